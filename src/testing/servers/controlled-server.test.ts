import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { startControlledServer, WITH_ALL_ADMISSION } from "./controlled-server.ts";

const SETS = "/apis/apps/v1/namespaces/default/replicasets";

const labels = { app: "web" };
const SET = {
  metadata: { name: "web" },
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } },
  },
};

test("a controlled server runs exactly the named controllers, with the permissions of their roles", async () => {
  await using server = await startControlledServer(["replicaset-controller"]);
  equal((await server.call("POST", SETS, SET)).code, 201);
  await server.clock.settle();
  const pods = (await server.call("GET", "/api/v1/namespaces/default/pods")).body.items as {
    readonly metadata: { readonly name: string };
  }[];
  equal(pods.length, 2);
  const { items } = (await server.call("GET", "/debug/k8ts/causes?resource=pods")).body;
  deepEqual(
    items.map(({ user, cause }: { user: string; cause: object }) => [user, cause]),
    items.map(() => [
      "system:serviceaccount:kube-system:replicaset-controller",
      {
        controller: "replicaset-controller",
        key: "default/web",
        reason: "Added",
        object: "replicasets.apps default/web",
        revision: (items[0].cause as { readonly revision: string }).revision,
      },
    ]),
  );

  await server.call("DELETE", `${SETS}/web`);
  await server.clock.settle();
  equal((await server.call("GET", "/api/v1/namespaces/default/pods")).body.items.length, 2, "no garbage collector runs");
});

test("a controlled server has mutating admission plugins if requested", async () => {
  await using server = await startControlledServer(["serviceaccount-controller"], { config: WITH_ALL_ADMISSION });
  const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } };
  const { body, code } = await server.call("POST", "/api/v1/namespaces/default/pods", pod);

  deepEqual([code, body.spec.serviceAccountName], [201, "default"]);
});
