/**
 * Custom resources: create, get, list and server-side apply beside the same on ConfigMaps in the same rounds; and 300 definitions with
 * several hundred fields each: how fast they are installed, what they cost at the start, in memory and in the documents.
 */
import { Disposables } from "../../src/base/disposables.ts";
import type { Benchmark } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { CustomResourceTasks, Operation } from "./custom-resources-child.ts";

const OPERATIONS: readonly Operation[] = ["create", "get", "list", "apply"];
const ROUND_MS = 400;
const WARM_UP_MS = 1_500;
/** Custom resources are decoded and validated by data, built-in kinds by generated schemas and code. */
const RATIO_MIN = 0.7;

const DEFINITIONS = 300;
const START_EXTRA_MS_MAX = 500;
const WARM_MS_MAX = 100;
/** A new definition is served within this time. */
const SERVED_MS_MAX = 100;
const KIBIBYTE = 1_024;
/** Of a definition with 500 fields, served and in all documents: 300 take 150 MB at most. */
const MEMORY_KIB_MAX = 512;

export const customResources: Benchmark = {
  name: "extension/custom-resources",
  measures:
    "create, get, list and apply of a custom resource per second, baseline: ConfigMap; install, start and documents of 300 definitions",
  async *run({ rounds, signal }) {
    await using children = new Disposables();
    const child = children.use(startChild<CustomResourceTasks>(import.meta.url, "custom-resources-child", signal));
    await child.call("prepare", undefined);
    for (const operation of OPERATIONS) {
      for (const subject of ["configmap", "custom"] as const) await child.call("rate", { subject, operation, durationMs: WARM_UP_MS });
      const results = await rounds.measure(
        {
          custom: () => child.call("rate", { subject: "custom", operation, durationMs: ROUND_MS }),
          configmap: () => child.call("rate", { subject: "configmap", operation, durationMs: ROUND_MS }),
        },
        3,
      );
      yield figureOf({
        name: `extension/custom-resources-${operation}`,
        unit: "requests/s",
        values: results.custom,
        baselines: results.configmap,
        budget: { atLeast: RATIO_MIN },
      });
    }
    const other = children.use(startChild<CustomResourceTasks>(import.meta.url, "custom-resources-child", signal));
    const { perSecond, servedMs, bytesEach, coldMs, warmMs, emptyMs, fullMs } = await other.call("install", { count: DEFINITIONS });
    const one = (name: string, unit: string, value: number) => ({ name: `extension/custom-resources-${name}`, unit, values: [value] });
    yield figureOf(one("install", "definitions/s", perSecond));
    yield figureOf({ ...one("served", "ms", 0), values: servedMs, budget: { atMost: SERVED_MS_MAX } });
    yield figureOf({ ...one("memory", "KiB/definition", bytesEach / KIBIBYTE), budget: { atMost: MEMORY_KIB_MAX } });
    yield figureOf(one("documents-cold", "ms", coldMs));
    yield figureOf({ ...one("documents-warm", "ms", warmMs), budget: { atMost: WARM_MS_MAX } });
    yield figureOf({ ...one("start-extra", "ms", Math.max(0, fullMs - emptyMs)), budget: { atMost: START_EXTRA_MS_MAX } });
  },
};
