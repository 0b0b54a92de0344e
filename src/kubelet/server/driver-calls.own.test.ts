/** Calls of storage drivers through the kubelet's server. */
import { deepEqual, equal } from "node:assert/strict";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import type { DriverAnswer } from "../contracts/driver-calls.ts";
import { aKubelet, serve } from "./testing/served.ts";

test("the kubelet passes calls to the controller service of a driver, and its answers, failures and absence back", async () => {
  const calls: string[] = [];
  const answers: Readonly<Record<string, DriverAnswer>> = {
    CreateVolume: { is: "answer", message: new TextEncoder().encode("created") },
    DeleteVolume: { is: "failed", code: "FAILED_PRECONDITION", message: "in use: ä" },
    ControllerPublishVolume: { is: "failed", code: "INTERNAL", message: `a${"😀".repeat(5_000)}` },
  };
  const driverCalls = {
    async call(driver: string, method: string, request: Uint8Array): Promise<DriverAnswer> {
      calls.push(`${driver} ${method} ${new TextDecoder().decode(request)}`);
      return answers[method.slice(method.lastIndexOf("/") + 1)] ?? { is: "missing" };
    },
  };
  await using served = await serve(aKubelet(), { driverCalls });
  const post = async (path: string) => {
    const answer = await served.open(path, { method: "POST", body: "asked" });
    const { "csi-code": code, "csi-message": message } = answer.headers;
    return [answer.statusCode, code, message, await text(answer)];
  };

  deepEqual(await post("/csi/d.example/csi.v1.Controller/CreateVolume"), [200, "OK", undefined, "created"]);
  deepEqual(await post("/csi/d.example/csi.v1.Controller/DeleteVolume"), [200, "FAILED_PRECONDITION", "in%20use%3A%20%C3%A4", ""]);
  deepEqual(await post("/csi/d.example/csi.v1.Controller/ControllerPublishVolume"), [
    200,
    "INTERNAL",
    encodeURIComponent(`a${"😀".repeat(749)}\ufffd`),
    "",
  ]);
  equal((await post("/csi/d.example/csi.v1.Controller/GetCapacity"))[3], 'CSI driver "d.example" is not registered on this node');
  equal((await post("/csi/d.example/csi.v1.Node/NodeStageVolume"))[0], 404);
  deepEqual(calls.slice(0, 1), ["d.example /csi.v1.Controller/CreateVolume asked"]);
  equal(calls.length, 4);
});
