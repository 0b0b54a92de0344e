/** Secrets with tokens of ServiceAccounts, as users still create them: the controller writes the token, the API server accepts it. */
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { tokenReviews } from "../../src/api/authentication.k8s.io/v1/token-review.ts";
import { secrets } from "../../src/api/core/v1/secret.ts";
import type { Secret } from "../../src/api/generated/core/v1.ts";
import { startCluster } from "../../src/embedded/start-cluster.ts";

const MANIFESTS = `
apiVersion: v1
kind: ServiceAccount
metadata: { name: robot }
---
apiVersion: v1
kind: Secret
type: kubernetes.io/service-account-token
metadata: { name: robot-token, annotations: { kubernetes.io/service-account.name: robot } }
`;

test("the token that a Secret gets authenticates its ServiceAccount until the account is deleted, and the Secret with it", async () => {
  await using cluster = await startCluster({ clock: "virtual" });
  await cluster.apply(MANIFESTS);
  await cluster.settle();
  const token = atob((await cluster.get<Secret>("secret/robot-token")).data?.["token"] ?? "");
  const review = async () => {
    const { status } = await cluster.client.create(tokenReviews, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenReview",
      metadata: {},
      spec: { token },
    });
    return [status?.authenticated, status?.user?.username];
  };

  const before = await review();
  await cluster.delete("serviceaccount/robot");
  await cluster.settle();
  const { items } = await cluster.client.list(secrets, { namespace: "default" });

  deepEqual(before, [true, "system:serviceaccount:default:robot"]);
  deepEqual([items, await review()], [[], [undefined, undefined]]);
});
