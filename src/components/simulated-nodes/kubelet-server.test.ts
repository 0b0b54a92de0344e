import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../api/generated/core/v1.ts";
import type { Kubelet } from "../../kubelet/kubelet.ts";
import { Refusal, type ChosenKubelet } from "../../kubelet/server/call.ts";
import { matchRoute } from "../../kubelet/server/routes.ts";
import { chooseSimulated } from "./kubelet-server.ts";

/** node-0 is silent, node-1 has the Pod default/web. */
const kubelet = {
  pod: ({ namespace, name }: { namespace: string; name: string }) => (`${namespace}/${name}` === "default/web" ? WEB : undefined),
};
const WEB = { metadata: { name: "web" } } as Pod;
const nodes = {
  names: () => ["node-0", "node-1"],
  kubelet: (name: string) => (name === "node-1" ? (kubelet as Kubelet) : undefined),
};

function chosen(path: string, part: typeof nodes | undefined = nodes): ChosenKubelet {
  const [plain = "", query] = path.split("?");
  const match = matchRoute("GET", plain);
  return chooseSimulated(() => part)(match.is === "found" ? match : undefined, new URLSearchParams(query));
}

function shown({ nodeName, kubelet: found }: ChosenKubelet): readonly unknown[] {
  return found instanceof Refusal
    ? [nodeName, found.code, found.message.replace(/.*"message":"(.*?[^\\])".*/, "$1")]
    : [nodeName, "answers"];
}

for (const [path, expected] of [
  ["/containerLogs/default/web/main", ["node-1", "answers"]],
  ["/exec/default/web/main", ["node-1", "answers"]],
  ["/exec/default/web/uid/main", ["node-1", "answers"]],
  ["/containerLogs/other/web/main", ["", 404, 'pod "web" does not exist']],
  [
    "/attach/default/web/main",
    [
      "node-1",
      400,
      String.raw`cannot attach to container \"main\" in pod \"web\": it is simulated and has no process; use kubectl logs --follow or kubectl exec`,
    ],
  ],
  [
    "/portForward/default/web",
    ["node-1", 400, String.raw`cannot forward ports of pod \"web\": it is simulated and has no listening sockets`],
  ],
  ["/pods", ["", 501, "cannot handle proxy on a simulated node: simulated Pods and nodes have no network"]],
  ["/stats/summary", ["", 501, "cannot handle proxy on a simulated node: simulated Pods and nodes have no network"]],
  ["/metrics/resource?node=node-1", ["node-1", "answers"]],
  ["/stats/summary?node=node-0", ["", 404, 'node "node-0" does not run here']],
  ["/nothing", ["", 501, "cannot handle proxy on a simulated node: simulated Pods and nodes have no network"]],
] as const) {
  test(`${path} is routed to its node, or rejected with a message`, () => deepEqual(shown(chosen(path)), expected));
}

test("before the nodes start no Pod is found", () => {
  const { kubelet: found } = chooseSimulated(() => undefined)(
    { is: "found", route: "exec", parameters: { namespace: "default", pod: "web" } },
    new URLSearchParams(),
  );

  equal(found instanceof Refusal && found.code, 404);
});
