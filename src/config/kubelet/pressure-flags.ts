/** Flags of node-pressure eviction and of the garbage collection of images: upstream's names, formats and defaults. */
import { parseDuration, durationToMs } from "../../api/machinery/duration.ts";
import type { FlagSet, FlagValues } from "../../cli/framework/flags.ts";
import { IMAGE_GC_DEFAULT } from "../../kubelet/images/image-gc.ts";
import { PRESSURE_DEFAULT, TRANSITION_MS, type PressureSettings } from "../../kubelet/eviction/pressure-settings.ts";
import { HARD_DEFAULT, parseThresholds, type SignalMap } from "../../kubelet/eviction/thresholds.ts";

const PERCENT_MAX = 100;
const MINUTE_MS = 60_000;

/** Separated by spaces, so that the help text wraps. */
const HARD_DEFAULT_TEXT = Object.entries(HARD_DEFAULT)
  .map(([signal, value]) => `${signal}<${value}`)
  .join(", ");

/** Of all commands that start a kubelet. */
export const nodePressureFlags = {
  "eviction-hard": {
    type: "list",
    placeholder: "SIGNAL<QUANTITY,...",
    doc: `Thresholds at which Pods are evicted at once, such as memory.available<100Mi,nodefs.available<10%; 0% disables one. k8ts kubelet and k8ts join default to upstream's (${HARD_DEFAULT_TEXT}); k8ts up evicts nothing.`,
    expects: (text: string) => (/^[^<]+<[^<]+$/.test(text) ? undefined : "a threshold such as memory.available<100Mi"),
  },
  "image-gc-high-threshold": {
    type: "number",
    min: 0,
    max: PERCENT_MAX,
    doc: "Percentage of disk usage from which on unused images are removed; 100 disables it. Default: 85, and 100 for k8ts up.",
  },
  "image-gc-low-threshold": {
    type: "number",
    min: 0,
    max: PERCENT_MAX,
    doc: "Percentage of disk usage down to which unused images are removed. Default: 80.",
  },
} as const satisfies FlagSet;

/** Of `k8ts kubelet` only. */
export const softPressureFlags = {
  "eviction-soft": {
    type: "list",
    placeholder: "SIGNAL<QUANTITY,...",
    doc: "Thresholds at which Pods are evicted after a grace period, such as memory.available<1Gi.",
    expects: (text: string) => (/^[^<]+<[^<]+$/.test(text) ? undefined : "a threshold such as memory.available<1Gi"),
  },
  "eviction-soft-grace-period": pairsFlag("Grace periods of --eviction-soft, such as memory.available=1m30s.", "memory.available=1m30s"),
  "eviction-minimum-reclaim": pairsFlag("Amounts beyond a threshold to reclaim, such as nodefs.available=500Mi.", "nodefs.available=500Mi"),
  "eviction-pressure-transition-period": durationFlag("5m0s", "Time for which the Node reports pressure after it was last observed."),
  "eviction-max-pod-grace-period": {
    type: "number",
    min: 0,
    default: 0,
    doc: "Maximum grace period in seconds of Pods that are evicted by a soft threshold.",
  },
  "minimum-image-ttl-duration": durationFlag("2m0s", "Minimum age of an unused image before it is removed."),
} as const satisfies FlagSet;

/** Fields that only the file has. */
export const pressureFileFlags = {
  "image-maximum-gc-age": durationFlag("0s", "Age from which on unused images are removed whatever the disk usage is; 0s disables it."),
} as const satisfies FlagSet;

type NodePressureValues = FlagValues<typeof nodePressureFlags>;
type AllPressureValues = NodePressureValues & FlagValues<typeof softPressureFlags & typeof pressureFileFlags>;

function pairsFlag(doc: string, example: string) {
  return {
    type: "list",
    placeholder: "SIGNAL=VALUE,...",
    doc,
    expects: (text: string) => (/^[^=]+=[^=]+$/.test(text) ? undefined : `a pair such as ${example}`),
  } as const;
}

function durationFlag(value: string, doc: string) {
  return {
    type: "string",
    placeholder: "DURATION",
    default: value,
    doc,
    expects: (text: string) => (durationMsOf(text) === undefined ? "a duration such as 1m30s" : undefined),
  } as const;
}

function durationMsOf(text: string): number | undefined {
  try {
    const milliseconds = durationToMs(parseDuration(text));
    return milliseconds >= 0 ? milliseconds : undefined;
  } catch {
    return undefined;
  }
}

function signalMap(elements: readonly string[], separator: "<" | "="): SignalMap {
  return Object.fromEntries(
    elements.map((element) => {
      const at = element.indexOf(separator);
      return [element.slice(0, at), element.slice(at + 1)];
    }),
  );
}

/** Of a command with `nodePressureFlags` only. `defaults`: of what is not set. */
export function nodePressureOf(values: NodePressureValues, defaults: PressureSettings): PressureSettings {
  const hard = values["eviction-hard"].length === 0 ? defaults.written.hard : signalMap(values["eviction-hard"], "<");
  const written = { ...defaults.written, hard };
  return { ...defaults, written, thresholds: parseThresholds(written).thresholds, imageGc: imageGcOf(values, defaults) };
}

function imageGcOf(values: NodePressureValues, { imageGc }: PressureSettings): PressureSettings["imageGc"] {
  const highPercent = values["image-gc-high-threshold"] ?? imageGc.highPercent;
  return {
    ...imageGc,
    highPercent,
    lowPercent: values["image-gc-low-threshold"] ?? Math.min(imageGc.lowPercent, Math.max(0, highPercent - 1)),
  };
}

export function nodePressureProblems(values: NodePressureValues): readonly string[] {
  return problemsOf(nodePressureOf(values, PRESSURE_DEFAULT));
}

/** Of `k8ts kubelet`. */
export function kubeletPressureOf(values: AllPressureValues): PressureSettings {
  const node = nodePressureOf(values, PRESSURE_DEFAULT);
  const written = {
    hard: node.written.hard,
    soft: signalMap(values["eviction-soft"], "<"),
    softGracePeriods: signalMap(values["eviction-soft-grace-period"], "="),
    minReclaim: signalMap(values["eviction-minimum-reclaim"], "="),
  };
  return {
    written,
    thresholds: parseThresholds(written).thresholds,
    transitionMs: durationMsOf(values["eviction-pressure-transition-period"]) ?? TRANSITION_MS,
    maxPodGraceSeconds: values["eviction-max-pod-grace-period"],
    imageGc: {
      ...node.imageGc,
      minAgeMs: durationMsOf(values["minimum-image-ttl-duration"]) ?? 2 * MINUTE_MS,
      maxAgeMs: durationMsOf(values["image-maximum-gc-age"]) ?? IMAGE_GC_DEFAULT.maxAgeMs,
    },
  };
}

export function kubeletPressureProblems(values: AllPressureValues): readonly string[] {
  return problemsOf(kubeletPressureOf(values));
}

function problemsOf({ written, imageGc }: PressureSettings): readonly string[] {
  const { highPercent, lowPercent } = imageGc;
  return [
    ...parseThresholds(written).problems.map((problem) => `eviction thresholds: ${problem}`),
    ...(lowPercent < highPercent ? [] : [`--image-gc-low-threshold must be less than --image-gc-high-threshold, is ${lowPercent}`]),
  ];
}

/** Arguments that configure another process in the same way. */
export function pressureArguments({ written, imageGc }: PressureSettings): readonly string[] {
  const hard = Object.entries(written.hard).map(([signal, value]) => `${signal}<${value}`);
  return [
    `--eviction-hard=${hard.join(",")}`,
    `--image-gc-high-threshold=${imageGc.highPercent}`,
    `--image-gc-low-threshold=${imageGc.lowPercent}`,
  ];
}
