import assert from "node:assert/strict";
import { test } from "node:test";
import { configMaps } from "../api/core/v1/config-map.ts";
import { secrets } from "../api/core/v1/secret.ts";
import { formatTime } from "../api/machinery/time.ts";
import { after, defineController, onChange, watch, type Controller } from "../controllers/runtime/controller.ts";
import { itself } from "../controllers/runtime/keys.ts";
import { everyStepMayBeTheLast, runScenario } from "./every-step.ts";

const SOURCE = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "source", namespace: "default" } } as const;

/** Creates two copies of the ConfigMap "source". With `trustsMemory` it wrongly trusts its memory over the stored state. */
function copier({ trustsMemory }: { readonly trustsMemory: boolean }): Controller {
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
        for (let index = trustsMemory ? made : there.length; index < 2; index++) {
          made++;
          await write.create(configMaps, {
            apiVersion: "v1",
            kind: "ConfigMap",
            metadata: { namespace: namespace ?? "", ...(trustsMemory ? { generateName: "copy-" } : { name: `copy-${index}` }) },
          });
        }
        return onChange;
      };
    },
  });
}

test("everyStepMayBeTheLast passes a level-triggered controller, wherever its process dies", async () => {
  const scenario = { objects: [SOURCE], controllers: () => [copier({ trustsMemory: false })], restMs: 5_000 };

  assert.equal((await runScenario(scenario)).calls, 2);
  await everyStepMayBeTheLast(scenario, { disturbedRuns: 3 });
});

test("everyStepMayBeTheLast rejects a controller that depends on in-memory state", async () => {
  const scenario = { objects: [SOURCE], controllers: () => [copier({ trustsMemory: true })], restMs: 5_000 };

  await assert.rejects(everyStepMayBeTheLast(scenario, { disturbedRuns: 0 }), /The process died after call 1 of 2/);
});

const COPY = { namespace: "default", name: "copy" };
const A_COPY = { apiVersion: "v1", kind: "ConfigMap", metadata: COPY } as const;

const SOURCE_KEY = { namespace: "default", name: "source" };
const SECRET = { apiVersion: "v1", kind: "Secret", metadata: { namespace: "default", name: "secret" } };

/** Reconciles the ConfigMap "source", also when others or Secrets change. */
function watcherOf(start: Controller["start"]): Controller {
  const watches = [
    watch(configMaps, ({ object }) => (object.metadata.namespace === "default" ? [SOURCE_KEY] : [])),
    watch(secrets, () => [SOURCE_KEY]),
  ];
  return defineController({ name: "wrong", account: "wrong", rules: EVERYTHING_OF_MAPS, watches, start });
}

const EVERYTHING_OF_MAPS = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["*"] }];

const WRONG: Readonly<Record<string, { readonly start: Controller["start"]; readonly found: RegExp }>> = {
  "writes the time forever": {
    start:
      () =>
      async (key, { read, write, clock }) => {
        const source = read.get(configMaps, key);
        if (source !== undefined) await write.update(configMaps, { ...source, data: { at: formatTime(clock.now()) } });
        return after(1_000);
      },
    found: /^Undisturbed: not idle at the end.*\nMODIFIED configmaps default\/source: \d+ times$/,
  },
  "recreates existing objects when it starts": {
    start() {
      let isFirst = true;
      return async (_key, { read, write }) => {
        if (!isFirst) return onChange;
        isFirst = false;
        if (read.get(configMaps, COPY) !== undefined) await write.delete(configMaps, COPY);
        await write.create(configMaps, A_COPY);
        return onChange;
      };
    },
    found:
      /^The process died after call 1 of 1: the number of creations differs.*\n- configmaps default\/copy: 1 times\n\+ configmaps default\/copy: 2 times$/,
  },
  "trusts a stale cache": {
    // A copy is deleted together with its source.
    start:
      () =>
      async (key, { read, write }) => {
        const isWanted = read.list(secrets, key.namespace).length > 0;
        const isThere = read.get(configMaps, COPY) !== undefined;
        if (isWanted && !isThere) await write.create(configMaps, A_COPY);
        if (!isWanted && isThere) await write.delete(configMaps, COPY);
        return onChange;
      },
    found: /^With delayed and stale events and failing requests, seed \d+: the number of creations differs/,
  },
};

for (const [it, { start, found }] of Object.entries(WRONG)) {
  test(`everyStepMayBeTheLast rejects a controller that ${it}`, async () => {
    const scenario = { objects: [SOURCE, SECRET], controllers: () => [watcherOf(start)], restMs: 20_000 };
    await assert.rejects(everyStepMayBeTheLast(scenario, { disturbedRuns: 20 }), { message: found });
  });
}

test("everyStepMayBeTheLast shows only the fields that differ", async () => {
  const scenario = { objects: [SOURCE], controllers: () => [copier({ trustsMemory: true })], restMs: 20_000 };
  const error: unknown = await everyStepMayBeTheLast(scenario, { disturbedRuns: 0 }).catch((failure: unknown) => failure);

  const [, ...lines] = (error as Error).message.split("\n");
  assert.ok(lines.length > 0 && lines.every((line) => line.startsWith("+ ConfigMap default/copy-* ")), lines.join("\n"));
});
