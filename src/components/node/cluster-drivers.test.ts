import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "../../api/generated/core/v1.ts";
import { decode, encode } from "../../base/protobuf/messages.ts";
import { createVolume, deleteVolume } from "../../csi/messages/controller.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import { ClusterDrivers } from "./cluster-drivers.ts";
import type { CallKubelet, KubeletResponse } from "./kubelet-caller.ts";

const CREATE = {
  name: "pvc-1",
  capacity: { requiredBytes: 1, limitBytes: 0 },
  capabilities: [],
  parameters: {},
  secrets: { password: "p" },
  mutableParameters: {},
};

function scene(answer: (path: string, body: Uint8Array) => KubeletResponse | Promise<never>) {
  const clock = virtualClock();
  const calls: string[] = [];
  const callKubelet: CallKubelet = async (node, { path, body }) => {
    calls.push(`${node.metadata.name} ${path}`);
    return answer(path, body);
  };
  const own = { controller: () => undefined, listen: () => ({ [Symbol.dispose]: () => {} }) };
  const node = async (name: string): Promise<Node> => ({ apiVersion: "v1", kind: "Node", metadata: { name } });
  return { clock, calls, drivers: new ClusterDrivers({ nodeName: "n1", own, callKubelet, node, clock }) };
}

test("a driver of another node is called through the kubelet of that node, one of this node is not", async () => {
  const received: unknown[] = [];
  const { drivers, calls } = scene((_path, body) => {
    const { name, secrets } = decode(createVolume.request, body);
    received.push(name, secrets);
    return {
      code: 200,
      headers: { "csi-code": "OK" },
      body: encode(createVolume.response, { volume: { volumeId: "id", capacityBytes: 1 } }),
    };
  });

  const created = await drivers.controller("d.example", "n2")?.createVolume(CREATE);

  equal(created?.volumeId, "id");
  deepEqual(received, ["pvc-1", [{ key: "password", value: "p" }]]);
  deepEqual(calls, ["n2 /csi/d.example/csi.v1.Controller/CreateVolume"]);
  equal(drivers.controller("d.example", "n1"), undefined);
});

test("failures of a driver behind a kubelet keep their code; a kubelet without the driver, or away, is Unavailable", async () => {
  const none = new Uint8Array();
  const rows: readonly [KubeletResponse | Error, RegExp][] = [
    [
      { code: 200, headers: { "csi-code": "FAILED_PRECONDITION", "csi-message": "in%20use" }, body: none },
      /^rpc error: code = FailedPrecondition desc = in use$/,
    ],
    [
      { code: 404, headers: {}, body: new TextEncoder().encode("not registered") },
      /^rpc error: code = Unavailable desc = the kubelet of node n2 answered with code 404: not registered$/,
    ],
    [new Error("no route"), /^rpc error: code = Unavailable desc = calling it through the kubelet of node n2 failed: no route$/],
  ];
  for (const [answer, message] of rows) {
    const { drivers } = scene(() => (answer instanceof Error ? Promise.reject(answer) : answer));
    await rejects(Promise.resolve(drivers.controller("d", "n2")?.deleteVolume({ volumeId: "v", secrets: {} })), { message });
  }
  equal(deleteVolume.path, "/csi.v1.Controller/DeleteVolume");
});

test("a kubelet that does not answer ends a call with DeadlineExceeded", async () => {
  const { drivers, clock } = scene(() => new Promise<never>(() => {}));
  const call = drivers.controller("d", "n2")?.deleteVolume({ volumeId: "v", secrets: {} });
  const rejected = rejects(Promise.resolve(call), /code = DeadlineExceeded/);

  await clock.advance(120_000);

  await rejected;
});
