/**
 * What the probes of one kind have found out about one container, and when the next one is due: pure functions from state to state, by
 * upstream's rules. A probe comes with the beats of its period, which are counted from when its Pod came to the node.
 * Not here: timers (pod-prober.ts), asking (run-probe.ts).
 */
import type { Container, Probe } from "../../api/generated/core/v1.ts";

export type ProbeKind = "startup" | "liveness" | "readiness";
export const PROBE_KINDS: readonly ProbeKind[] = ["startup", "liveness", "readiness"];

/** "Liveness", as people read it. */
export function probeTitle(kind: ProbeKind): string {
  return `${kind.slice(0, 1).toUpperCase()}${kind.slice(1)}`;
}

export type ProbeResult = "success" | "failure" | "unknown";

const SECOND_MS = 1000;

/** Upstream's defaults, which the API server fills in. */
const PERIOD_SECONDS = 10;
const FAILURE_THRESHOLD = 3;

export interface ProbeState {
  /** What counts. */
  readonly result: ProbeResult;
  /** The answers so far that are the same as the last one, in a row. */
  readonly last: "success" | "failure" | undefined;
  readonly run: number;
  /** Enough is known until there is another container. */
  readonly isOnHold: boolean;
  /** When the last one was due. */
  readonly probedAtMs: number | undefined;
}

const INITIAL: Readonly<Record<ProbeKind, ProbeResult>> = { startup: "unknown", liveness: "success", readiness: "failure" };

/** Of a container that is new, or of one that ran before this kubelet came: then what was told of it counts until it is asked. */
export function newProbeState(kind: ProbeKind, told?: { readonly isReady: boolean; readonly isStarted: boolean }): ProbeState {
  const known = kind === "readiness" ? told?.isReady === true : kind === "startup" && told?.isStarted === true;
  return { result: known ? "success" : INITIAL[kind], last: undefined, run: 0, isOnHold: false, probedAtMs: undefined };
}

/** After one more answer. */
export function afterAnswer(
  state: ProbeState,
  { kind, probe, answer }: { readonly kind: ProbeKind; readonly probe: Probe; readonly answer: "success" | "failure" },
): ProbeState {
  const run = state.last === answer ? state.run + 1 : 1;
  const threshold = answer === "failure" ? (probe.failureThreshold ?? FAILURE_THRESHOLD) : (probe.successThreshold ?? 1);
  if (run < threshold) return { ...state, last: answer, run };
  // It is to be restarted, or has started: asking a container that is being stopped may harm it.
  const isOnHold = kind === "startup" || (kind === "liveness" && answer === "failure");
  return { ...state, result: answer, last: answer, run: isOnHold ? 0 : run, isOnHold };
}

export interface ProbeView {
  readonly kind: ProbeKind;
  readonly probe: Probe;
  readonly state: ProbeState;
  /** Undefined: it does not run. */
  readonly runningSinceMs: number | undefined;
  /** Its startup is over. */
  readonly isStarted: boolean;
  /** Its Pod is to end. */
  readonly isEnding: boolean;
  /** The first beat. */
  readonly beatAtMs: number;
  readonly nowMs: number;
}

/** When the next probe is due; undefined: not before something has changed. */
export function nextProbeAtMs(view: ProbeView): number | undefined {
  const { kind, probe, state, runningSinceMs, isStarted, isEnding, beatAtMs, nowMs } = view;
  if (runningSinceMs === undefined || state.isOnHold) return undefined;
  // The others wait for the startup, whose probes end with it.
  if (isStarted === (kind === "startup")) return undefined;
  // Whether it still takes requests matters to the last; whether it should be restarted does not.
  if (isEnding && kind !== "readiness") return undefined;
  const period = periodMs(probe);
  if (state.probedAtMs !== undefined) return Math.max(nowMs, state.probedAtMs + period);
  const readyAtMs = Math.max(nowMs, runningSinceMs + (probe.initialDelaySeconds ?? 0) * SECOND_MS);
  // Others wait for it, so it is asked at once.
  if (kind === "readiness" && state.result !== "success") return readyAtMs;
  return beatAtMs + Math.max(0, Math.ceil((readyAtMs - beatAtMs) / period)) * period;
}

export function periodMs({ periodSeconds = PERIOD_SECONDS }: Probe): number {
  return Math.max(1, periodSeconds) * SECOND_MS;
}

export function probeOf(container: Container, kind: ProbeKind): Probe | undefined {
  switch (kind) {
    case "startup":
      return container.startupProbe;
    case "liveness":
      return container.livenessProbe;
    case "readiness":
      return container.readinessProbe;
  }
}

/** Why a container has to be restarted, by its id. */
export type Unhealthy = ReadonlyMap<string, "startup" | "liveness">;
