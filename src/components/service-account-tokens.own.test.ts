import { deepEqual, equal, notEqual } from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { serviceAccounts } from "../api/core/v1/service-account.ts";
import type { JsonObject, KubeObject } from "../api/machinery/object.ts";
import { silentLogger } from "../base/logger.ts";
import { httpsTransport } from "../client/https/https-transport.ts";
import { loadKubeconfig } from "../client/kubeconfig/load-kubeconfig.ts";
import type { Client, ResourceKind } from "../client/client.ts";
import { createClient } from "../client/rest-client.ts";
import { realClock } from "../host/real-clock.ts";
import { startTestApiServer } from "../testing/servers/api-server.ts";
import { ServiceAccountTokens } from "./service-account-tokens.ts";

const ACCOUNT = { namespace: "kube-system", name: "web-controller" };
const OPTIONS = { clock: realClock, log: silentLogger, userAgent: "k8ts-test/1" };

const reviews: ResourceKind = {
  kind: "SelfSubjectReview",
  plural: "selfsubjectreviews",
  scope: "Cluster",
  storage: { group: "authentication.k8s.io", version: "v1" },
};

async function whoAmI(client: Client): Promise<JsonObject> {
  const review = await client.create(reviews, { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview", metadata: {} });
  return (review as KubeObject & { readonly status: { readonly userInfo: JsonObject } }).status.userInfo;
}

test("a controller whose service account is deleted continues with a new one, and none of its requests fails", async () => {
  const server = await startTestApiServer();
  try {
    const config = await loadKubeconfig({ path: server.kubeconfig, environment: {}, homeDirectory: "/none", readFile });
    await using administrator = httpsTransport(config, OPTIONS);
    const client = createClient(administrator);
    const tokenSource = new ServiceAccountTokens({ client, account: ACCOUNT.name, clock: realClock });
    await using transport = httpsTransport({ ...config, credentials: { tokenSource } }, OPTIONS);
    const controller = createClient(transport);

    const before = await whoAmI(controller);
    await client.delete(serviceAccounts, ACCOUNT);
    const [one, other] = await Promise.all([whoAmI(controller), whoAmI(controller)]);

    equal(before["username"], "system:serviceaccount:kube-system:web-controller");
    deepEqual([one["username"], other["username"]], [before["username"], before["username"]]);
    equal(one["uid"], (await client.get(serviceAccounts, ACCOUNT)).metadata.uid);
    notEqual(one["uid"], before["uid"]);
  } finally {
    await server.close();
  }
});
