import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import type { Effects } from "../../framework/plugin.ts";
import { made } from "../../framework/testing/call-plugin.ts";
import { NO_DEVICE_EFFECTS } from "../../framework/device-view.ts";
import { NO_STORAGE_EFFECTS } from "../../framework/storage-view.ts";
import { aPod, podInfo } from "../../framework/testing/builders.ts";
import { defaultBinder } from "./default-binder.ts";

const SIGNAL = new AbortController().signal;

test("DefaultBinder binds the Pod to the node and leaves nothing to other plugins", async () => {
  const pod = aPod("p");
  const bound: unknown[] = [];
  const plugin = made(defaultBinder, undefined, { effects: effectsWithBind(async (...call) => void bound.push(call)) });

  const isDone = await plugin.bind?.(podInfo(pod), "n1", SIGNAL);

  equal(isDone, true);
  deepEqual(bound, [[pod, "n1", SIGNAL]]);
});

test("DefaultBinder rejects with the binding's error", async () => {
  const refused = new Error("the node is gone");
  const plugin = made(defaultBinder, undefined, { effects: effectsWithBind(() => Promise.reject(refused)) });
  await rejects(async () => plugin.bind?.(podInfo(aPod("p")), "n1", SIGNAL), refused);
});

function effectsWithBind(bind: Effects["bind"]): Effects {
  return {
    bind,
    preempt: () => Promise.resolve(),
    clearNomination: () => Promise.resolve(),
    storage: NO_STORAGE_EFFECTS,
    devices: NO_DEVICE_EFFECTS,
  };
}
