import assert from "node:assert/strict";
import { test } from "node:test";
import { configMaps } from "../api/core/v1/config-map.ts";
import { defineController, onChange, watch, type Controller } from "../controllers/runtime/controller.ts";
import { itself } from "../controllers/runtime/keys.ts";
import { everyStepMayBeTheLast, play } from "./every-step.ts";

const SOURCE = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "source", namespace: "default" } } as const;

/** Makes two copies of the map "source"; `remembers`: as nobody should, it believes its memory more than what is there. */
function copier({ remembers }: { readonly remembers: boolean }): Controller {
  return defineController({
    name: "copier",
    account: "copier",
    rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create"] }],
    watches: [watch(configMaps, itself)],
    start() {
      let made = 0;
      return async ({ namespace, name }, { read, write }) => {
        if (name !== "source") return onChange;
        const there = read.list(configMaps, namespace).filter(({ metadata }) => metadata.name.startsWith("copy-"));
        for (let index = remembers ? made : there.length; index < 2; index++) {
          made++;
          await write.create(configMaps, {
            apiVersion: "v1",
            kind: "ConfigMap",
            metadata: { namespace: namespace ?? "", ...(remembers ? { generateName: "copy-" } : { name: `copy-${index}` }) },
          });
        }
        return onChange;
      };
    },
  });
}

test("a controller that starts from what is there comes to the same end wherever it is cut", async () => {
  const scenario = { objects: [SOURCE], controllers: () => [copier({ remembers: false })], restMs: 5_000 };

  assert.equal((await play(scenario)).calls, 2);
  await everyStepMayBeTheLast(scenario, { disturbedRuns: 3 });
});

test("a controller that needs its memory is found out", async () => {
  const scenario = { objects: [SOURCE], controllers: () => [copier({ remembers: true })], restMs: 5_000 };

  await assert.rejects(everyStepMayBeTheLast(scenario, { disturbedRuns: 0 }), /The process died after call 1 of 2/);
});
