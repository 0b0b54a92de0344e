import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { parseArguments } from "../../cli/framework/flags.ts";
import { PRESSURE_DEFAULT, PRESSURE_DISABLED } from "../../kubelet/eviction/pressure-settings.ts";
import {
  kubeletPressureOf,
  kubeletPressureProblems,
  nodePressureFlags,
  nodePressureOf,
  pressureArguments,
  pressureFileFlags,
  softPressureFlags,
} from "./pressure-flags.ts";

const FLAGS = { ...nodePressureFlags, ...softPressureFlags, ...pressureFileFlags };

function valuesOf(...words: readonly string[]) {
  const { values, problems } = parseArguments({ flags: FLAGS, arguments: {} }, words);
  deepEqual(problems, []);
  return values;
}

test("without flags, k8ts kubelet has upstream's thresholds, and k8ts up none", () => {
  deepEqual(kubeletPressureOf(valuesOf()), PRESSURE_DEFAULT);
  deepEqual(nodePressureOf(valuesOf(), PRESSURE_DISABLED), PRESSURE_DISABLED);
  deepEqual(PRESSURE_DISABLED.thresholds, []);
});

test("flags replace the defaults, and are passed to other processes", () => {
  const settings = kubeletPressureOf(
    valuesOf(
      "--eviction-hard=memory.available<1Gi",
      "--eviction-soft=nodefs.available<20%",
      "--eviction-soft-grace-period=nodefs.available=1m",
      "--eviction-minimum-reclaim=nodefs.available=5%",
      "--eviction-pressure-transition-period=30s",
      "--eviction-max-pod-grace-period=7",
      "--image-gc-high-threshold=90",
      "--minimum-image-ttl-duration=1h",
    ),
  );
  deepEqual(settings.thresholds, [
    { signal: "memory.available", value: { amount: 2 ** 30 }, graceMs: 0 },
    { signal: "nodefs.available", value: { fraction: 0.2 }, graceMs: 60_000, minReclaim: { fraction: 0.05 } },
  ]);
  deepEqual([settings.transitionMs, settings.maxPodGraceSeconds], [30_000, 7]);
  deepEqual(settings.imageGc, { highPercent: 90, lowPercent: 80, minAgeMs: 3_600_000, maxAgeMs: 0 });
  deepEqual(pressureArguments(settings), [
    "--eviction-hard=memory.available<1Gi",
    "--image-gc-high-threshold=90",
    "--image-gc-low-threshold=80",
  ]);
  deepEqual(nodePressureOf(valuesOf(...pressureArguments(PRESSURE_DISABLED)), PRESSURE_DEFAULT).thresholds, []);
});

test("invalid combinations are reported", () => {
  deepEqual(kubeletPressureProblems(valuesOf("--eviction-soft=memory.available<1Gi", "--image-gc-low-threshold=90")), [
    "eviction thresholds: grace period must be specified for the soft eviction threshold memory.available",
    "--image-gc-low-threshold must be less than --image-gc-high-threshold, is 90",
  ]);
});
