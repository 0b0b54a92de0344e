import { deepEqual, equal, match, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { apiServices } from "../../api/apiregistration.k8s.io/v1/api-service.ts";
import { configMaps } from "../../api/core/v1/config-map.ts";
import { secrets } from "../../api/core/v1/secret.ts";
import { horizontalPodAutoscalers as scalers } from "../../api/autoscaling/horizontal-pod-autoscaler.ts";
import { StatusError, type Reason } from "../../api/machinery/status-error.ts";
import { prometheusText } from "../../base/metrics/prometheus-text.ts";
import {
  after,
  onChange,
  watch,
  watchEveryKind,
  type ControllerContext,
  type Outcome,
  type Reconcile,
  type WorkKey,
} from "./controller.ts";
import { itself, keyOf, keyText, kindName } from "./keys.ts";
import { anApiService, Gate, map, mapController, runWorld, withGroup, type RunWorld } from "./testing/run-world.ts";

const KEY = { namespace: "default", name: "a" };

async function touch({ cluster }: RunWorld, name: string, value: string): Promise<void> {
  await cluster.client.patch(configMaps, { namespace: "default", name }, { type: "merge", value: { data: { value } } });
}

test("no key is reconciled before all watches are synced, and then every key is, once", async () => {
  await using world = await runWorld("a", "b");
  const gate = new Gate();
  world.before = ({ plural }) => (plural === "secrets" ? gate.opened : undefined);
  const seen: string[] = [];
  const watches = [...mapController(() => Promise.resolve(onChange)).watches, watch(secrets, itself)];
  const controller = mapController(async (key) => (seen.push(keyText(key)), onChange), { watches });
  const starting = world.starting([controller]);
  await world.cluster.clock.settle();
  deepEqual(seen, []);

  gate.open();
  await world.cluster.clock.settle();
  await starting;

  deepEqual(seen, ["default/a", "default/b"]);
});

test("a key is reconciled by one worker at a time, and once more if queued meanwhile", async () => {
  await using world = await runWorld("a");
  const gate = new Gate();
  const values: (string | undefined)[] = [];
  let side = 0;
  const controller = mapController(async (key, { read }) => {
    equal(++side, 1, "no other worker has it");
    values.push(read.get(configMaps, key)?.data?.["value"]);
    if (values.length === 1) await gate.opened;
    side--;
    return onChange;
  });
  await world.start(controller);
  for (const value of ["1", "2", "3"]) await touch(world, "a", value);
  await world.cluster.settled();
  equal(values.length, 1);

  gate.open();
  await world.cluster.settled();

  deepEqual(values, [undefined, "3"]);
});

test("changes of a watch with a delay are collected: they queue the key once, after it", async () => {
  await using world = await runWorld("a");
  const values: (string | undefined)[] = [];
  const watches = [watch(configMaps, itself, { delayMs: ({ name }) => (name === "a" ? 200 : 0) })];
  const controller = mapController(async (key, { read }) => (values.push(read.get(configMaps, key)?.data?.["value"]), onChange), {
    watches,
  });
  await world.start(controller);
  for (const value of ["1", "2"]) await touch(world, "a", value);
  await world.cluster.clock.advance(100);
  await touch(world, "a", "3");
  deepEqual(values, []);

  await world.cluster.clock.advance(100);
  deepEqual(values, ["3"]);

  await world.cluster.clock.advance(1_000);
  deepEqual(values, ["3"]);
});

test("the number of concurrent reconciliations is the controller's; by default five", async () => {
  for (const [concurrency, expected] of [
    [undefined, 5],
    [2, 2],
  ] as const) {
    await using world = await runWorld("a", "b", "c", "d", "e", "f", "g");
    const gate = new Gate();
    let passes = 0;
    const reconcile = async () => (passes++, await gate.opened, onChange);
    await world.start(mapController(reconcile, concurrency === undefined ? {} : { concurrency }));
    await world.cluster.settled();
    equal(passes, expected);

    gate.open();
    await world.cluster.settled();
    equal(passes, 7);
  }
});

test("failures are retried with backoff up to a minute, which resets on success", async () => {
  await using world = await runWorld("a");
  const { clock } = world.cluster;
  const times: number[] = [];
  let fails = 16;
  await world.start(
    mapController(async () => {
      times.push(clock.monotonic());
      if (fails-- > 0) throw new Error("not yet");
      return onChange;
    }),
  );
  const delays = () => times.slice(1).map((time, index) => time - (times[index] ?? 0));
  await clock.advance(600_000);
  deepEqual(delays(), [...Array.from({ length: 14 }, (_, retry) => 5 * 2 ** retry), 60_000, 60_000]);

  times.length = 0;
  fails = 2;
  await touch(world, "a", "1");
  await clock.advance(60_000);
  deepEqual(delays(), [5, 10]);
});

describe("how failures are logged", () => {
  for (const [reason, level] of [
    ["Conflict", "debug"],
    ["NotFound", "debug"],
    ["Forbidden", "warn"],
    ["InternalError", "warn"],
  ] as const satisfies readonly (readonly [Reason, string])[]) {
    test(`${reason}: ${level}, with controller and key`, async () => {
      await using world = await runWorld("a");
      let fails = 1;
      await world.start(
        mapController(async () => {
          if (fails-- > 0) throw new StatusError(reason, "so it is");
          return onChange;
        }),
      );
      await world.cluster.clock.advance(1_000);

      const reported = world.log.filter(({ sentence }) => sentence.startsWith("Reconciling an object "));
      deepEqual(
        reported.map((line) => [line.level, line.fields["controller"], line.fields["key"]]),
        [[level, "map-controller", "default/a"]],
      );
      match(JSON.stringify(reported[0]?.fields["error"]), /so it is/);
    });
  }
});

test("requeueAfter is honoured, and a change is reconciled at once", async () => {
  await using world = await runWorld("a");
  const { clock } = world.cluster;
  const times: number[] = [];
  await world.start(mapController(async () => (times.push(clock.monotonic()), after(times.length > 2 ? Infinity : 1_000))));
  const startMs = clock.monotonic();
  await clock.advance(400);
  await touch(world, "a", "1");
  await clock.advance(5_000);

  deepEqual(
    times.map((time) => time - startMs),
    [0, 400, 1_000],
    "of two delays the earlier counts",
  );
});

const writeItself: Reconcile = async (key, { read, write }) => {
  const value = String(1 + Number(read.get(configMaps, key)?.data?.["value"] ?? 0));
  await write.patch(configMaps, key, { type: "merge", value: { data: { value } } });
  return onChange;
};

for (const [title, again, othersMin] of [
  ["a key that is requeued immediately", async () => after(0), 999],
  ["a key that is requeued for a time in the past", async () => after(-1), 999],
  ["one that is woken by what it writes itself", writeItself, 10],
] as const satisfies readonly (readonly [string, Reconcile, number])[]) {
  test(`${title} does not starve everything else`, async () => {
    await using world = await runWorld("a");
    const { clock } = world.cluster;
    let passes = 0;
    let others = 0;
    const other = (): void => {
      others++;
      if (passes < 1_000) clock.soon(other);
    };
    clock.soon(other);
    await world.start(mapController((key, pass) => (++passes < 1_000 ? again(key, pass) : Promise.resolve(onChange))));
    await world.cluster.settled();

    equal(passes, 1_000);
    ok(others >= othersMin, `${others} others came in between`);
  });
}

test("an invalid result counts as a failure, is logged with its controller, and retried with backoff", async () => {
  for (const nonsense of [
    after(Number.NaN),
    after(undefined as never),
    undefined as never,
    { again: "soon" } as never,
  ] as readonly Outcome[]) {
    await using world = await runWorld("a");
    const { clock } = world.cluster;
    const times: number[] = [];
    await world.start(mapController(async () => (times.push(clock.monotonic()), nonsense)));
    await clock.advance(40);

    deepEqual(
      times.map((time) => time - (times[0] ?? 0)),
      [0, 5, 15, 35],
    );
    const [reported] = world.log.filter(({ level, sentence }) => level === "warn" && sentence.startsWith("Reconciling an object failed"));
    match(JSON.stringify(reported?.fields["error"]), /a pass of map-controller ends with onChange or with after/);
  }
});

test("a mapping that throws is logged, and the next change is mapped as usual", async () => {
  await using world = await runWorld("a", "b");
  const seen: string[] = [];
  const keys = function* (change: Parameters<typeof itself>[0]) {
    if (change.object.metadata.name === "a") throw new Error("not this one");
    yield* itself(change);
  };
  await world.start(mapController(async ({ name }) => (seen.push(name), onChange), { watches: [watch(configMaps, keys)] }));
  await touch(world, "a", "1");
  await touch(world, "b", "1");
  await world.cluster.settled();

  deepEqual(
    seen.filter((name) => !name.startsWith("kube-")),
    ["b", "b"],
  );
  const reported = world.log.filter(({ sentence }) => sentence === "Mapping a change to work-queue keys failed");
  deepEqual(
    reported.map(({ level, fields }) => [level, fields["controller"], fields["changed"]]),
    Array.from({ length: 2 }, () => ["error", "map-controller", "configmaps default/a"]),
  );
});

/** A controller of everything in the namespace "default", and its triggers. */
function everyController(lines: string[]) {
  const keys = watchEveryKind(function* ({ is, object }, _read, kind) {
    const key = { ...keyOf(object), kind: kindName(kind) };
    if (object.metadata.namespace !== "default") return;
    lines.push(`${is} ${keyText(key)}`);
    yield key;
  });
  return mapController(async (key) => (lines.push(`looked at ${keyText(key)}`), onChange), { name: "every-controller", watches: [keys] });
}

test("with all kinds, one that cannot be listed is waited for half a minute, logged, and joins later", async () => {
  await using world = await runWorld("a");
  const { client, clock } = world.cluster;
  await client.create(secrets, { apiVersion: "v1", kind: "Secret", metadata: KEY });
  let isBroken = true;
  world.before = ({ plural }) =>
    isBroken && plural === "secrets" ? Promise.reject(new StatusError("InternalError", "conversion failed")) : undefined;
  const lines: string[] = [];
  const looked = () => lines.filter((line) => line.startsWith("looked at") && line.endsWith("/a"));
  const starting = world.starting([everyController(lines)]);
  await clock.advance(29_999);
  deepEqual(looked(), []);

  await clock.advance(1);
  await starting;
  await clock.settle();
  deepEqual(looked(), ["looked at configmaps default/a"]);
  const warned = world.log.filter(({ sentence }) => sentence === "Some kinds cannot be listed; continuing without them");
  deepEqual(
    warned.map(({ level, fields }) => [level, fields["controller"], fields["kinds"]]),
    [["warn", "every-controller", "secrets"]],
  );

  isBroken = false;
  await clock.advance(60_000);
  deepEqual(looked(), ["looked at configmaps default/a", "looked at secrets default/a"]);
});

test("a kind watched by name is waited for without a timeout", async () => {
  await using world = await runWorld("a");
  const gate = new Gate();
  world.before = ({ plural }) => (plural === "secrets" ? gate.opened : undefined);
  const seen: string[] = [];
  const watches = [...mapController(() => Promise.resolve(onChange)).watches, watch(secrets, itself)];
  const starting = world.starting([mapController(async ({ name }) => (seen.push(name), onChange), { watches })]);
  await world.cluster.clock.advance(600_000);
  deepEqual(seen, []);

  gate.open();
  await world.cluster.clock.advance(60_000);
  await starting;
  deepEqual(seen, ["a"]);
});

test("objects of a removed kind are delivered as deleted; those of a kind served in another version are not", async () => {
  for (const [preferred, expected] of [
    [undefined, ["deleted horizontalpodautoscalers.autoscaling default/a"]],
    ["v1", ["added horizontalpodautoscalers.autoscaling default/a"]],
  ] as const) {
    await using world = await runWorld();
    const { client, clock } = world.cluster;
    const spec = { maxReplicas: 1, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "a" } };
    await client.create(scalers, { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", metadata: KEY, spec });
    const lines: string[] = [];
    await world.start(everyController(lines));
    await world.cluster.settled();
    lines.length = 0;
    world.document = (path, answer) => (path === "/apis" ? withGroup(answer, "autoscaling", preferred) : answer);
    await client.create(apiServices, anApiService("v1"));
    await clock.settle();

    deepEqual(
      lines.filter((line) => !line.startsWith("looked")),
      expected,
    );
  }
});

test("a controller can queue a key itself", async () => {
  await using world = await runWorld();
  const keys: WorkKey[] = [];
  let context: ControllerContext | undefined;
  await world.start(
    mapController(() => Promise.resolve(onChange), {
      start(given) {
        context = given;
        return async (key) => (keys.push(key), onChange);
      },
    }),
  );
  deepEqual(context?.kinds(), [], "of a controller that does not watch every kind");
  context?.wake({ kind: "timer", name: "hour" });
  await world.cluster.settled();

  deepEqual(keys, [{ kind: "timer", name: "hour" }]);
});

test("stopping starts nothing, cancels requests, and waits for running reconciliations", async () => {
  await using world = await runWorld("a", "b");
  const gate = new Gate();
  const lines: string[] = [];
  const running = await world.start(
    mapController(
      async ({ name }, { write, signal }) => {
        lines.push(`${name} begins`);
        await gate.opened;
        lines.push(`${name} ${signal.aborted ? "must stop" : "continues"}`);
        await write.create(configMaps, map("c")).catch((error: Error) => lines.push(error.message));
        return after(1);
      },
      { concurrency: 1 },
    ),
  );
  await world.cluster.settled();
  const stopping = running.stop().then(() => lines.push("stopped"));
  await touch(world, "a", "1");
  await world.cluster.settled();
  deepEqual(lines, ["a begins"]);

  gate.open();
  await stopping;
  await touch(world, "b", "1");
  await world.cluster.clock.advance(100_000);

  deepEqual(lines, ["a begins", "a must stop", "The client disconnected before the response", "stopped"]);
  equal((await world.cluster.list(configMaps, "default")).length, 2);
  await running.stop();
});

test("every write carries controller, key and trigger as cause; a retry has the same cause", async () => {
  await using world = await runWorld("a");
  const { client, clock } = world.cluster;
  let fails = 1;
  await world.start(
    mapController(async ({ name }, { read, write }) => {
      const value = read.get(configMaps, KEY)?.data?.["value"];
      if (name !== "a" || value === undefined) return onChange;
      if (fails-- > 0) throw new Error("not yet");
      await write.apply(configMaps, map("copy", { value }), { fieldManager: "test" });
      return value === "1" ? after(1_000) : onChange;
    }),
  );
  await touch(world, "a", "1");
  const { resourceVersion } = (await client.get(configMaps, KEY)).metadata;
  await clock.advance(5);
  const cause = { controller: "map-controller", key: "default/a" };
  const trigger = { object: "configmaps default/a", revision: resourceVersion };
  deepEqual(
    (await world.causesOf("copy")).map((write) => write.cause),
    [{ ...cause, ...trigger, reason: "Updated" }],
  );

  await client.delete(configMaps, { namespace: "default", name: "copy" });
  await clock.advance(2_000);
  const last = (await world.causesOf("copy")).at(-1);
  deepEqual(
    [last?.cause, last?.user],
    [{ ...cause, ...trigger, reason: "Timer" }, "system:serviceaccount:kube-system:map-controller"],
    "a timer has the trigger of the pass that set it",
  );
});

test("reconciliations are counted, and visible while running", async () => {
  await using world = await runWorld("a", "b");
  const gate = new Gate();
  let fails = 1;
  const running = await world.start(
    mapController(
      async ({ name }) => {
        if (name === "b") await gate.opened;
        if (fails-- > 0) throw new Error("not yet");
        return onChange;
      },
      { concurrency: 1 },
    ),
  );
  await world.cluster.clock.advance(1_000);
  await touch(world, "a", "1");
  const text = prometheusText(running.metrics());

  const value = (name: string) => new RegExp(`^${name}\\{name="map-controller"\\} (.*)$`, "m").exec(text)?.[1];
  deepEqual(["workqueue_adds_total", "workqueue_depth", "workqueue_retries_total", "k8ts_controller_in_progress"].map(value), [
    "3",
    "1",
    "1",
    "1",
  ]);
  deepEqual(["k8ts_controller_passes_total", "k8ts_controller_failures_total"].map(value), ["1", "1"]);
  ok(Number(value("workqueue_queue_duration_seconds_count")) === 2);
  gate.open();
});
