/**
 * Results of the probes of one kind of one container, and when the next one is due: pure state transitions, by upstream's rules. Probes are
 * due at multiples of their period, counted from when the Pod was added to the node. Not here: timers (pod-prober.ts), running a probe
 * (run-probe.ts).
 */
import type { Container, Probe } from "../../api/generated/core/v1.ts";

export type ProbeKind = "startup" | "liveness" | "readiness";
export const PROBE_KINDS: readonly ProbeKind[] = ["startup", "liveness", "readiness"];

/** "Liveness", as in events. */
export function probeTitle(kind: ProbeKind): string {
  return `${kind.slice(0, 1).toUpperCase()}${kind.slice(1)}`;
}

export type ProbeResult = "success" | "failure" | "unknown";

const SECOND_MS = 1000;

/** Upstream's defaults, which the API server sets. */
const PERIOD_SECONDS = 10;
const FAILURE_THRESHOLD = 3;

/**
 * The kubelet probes readiness as soon as the container runs, when most programs do not listen yet. Upstream repeats that probe at each sync
 * of the Pod, the first of which follows within a second; waiting for the next period would cost such a Pod ten seconds.
 */
const READINESS_RETRY_MS = SECOND_MS;

export interface ProbeState {
  /** The current result. */
  readonly result: ProbeResult;
  /** Number of equal responses in a row. */
  readonly last: "success" | "failure" | undefined;
  readonly run: number;
  /** At least one response was a success, or the container was ready when this kubelet process began. */
  readonly hasSucceeded: boolean;
  /** The result is final until the container is replaced. */
  readonly isOnHold: boolean;
  /** When the last probe was due. */
  readonly probedAtMs: number | undefined;
}

const INITIAL: Readonly<Record<ProbeKind, ProbeResult>> = { startup: "unknown", liveness: "success", readiness: "failure" };

/** State of a new container, or of one that ran before this kubelet started: its reported readiness counts until it is probed. */
export function newProbeState(kind: ProbeKind, reported?: { readonly isReady: boolean; readonly isStarted: boolean }): ProbeState {
  const known = kind === "readiness" ? reported?.isReady === true : kind === "startup" && reported?.isStarted === true;
  return {
    result: known ? "success" : INITIAL[kind],
    last: undefined,
    run: 0,
    hasSucceeded: known,
    isOnHold: false,
    probedAtMs: undefined,
  };
}

/** The state after one more response. */
export function afterAnswer(
  state: ProbeState,
  { kind, probe, answer }: { readonly kind: ProbeKind; readonly probe: Probe; readonly answer: "success" | "failure" },
): ProbeState {
  const run = state.last === answer ? state.run + 1 : 1;
  const hasSucceeded = state.hasSucceeded || answer === "success";
  const threshold = answer === "failure" ? (probe.failureThreshold ?? FAILURE_THRESHOLD) : (probe.successThreshold ?? 1);
  if (run < threshold) return { ...state, last: answer, run, hasSucceeded };
  // It will be restarted, or has started: probing a container that is being stopped may harm it.
  const isOnHold = kind === "startup" || (kind === "liveness" && answer === "failure");
  return { ...state, result: answer, last: answer, run: isOnHold ? 0 : run, hasSucceeded, isOnHold };
}

export interface ProbeView {
  readonly kind: ProbeKind;
  readonly probe: Probe;
  readonly state: ProbeState;
  /** Undefined: it does not run. */
  readonly runningSinceMs: number | undefined;
  /** Its startup probe has succeeded. */
  readonly isStarted: boolean;
  /** Its Pod terminates. */
  readonly isEnding: boolean;
  /** When the first probe was due. */
  readonly firstDueAtMs: number;
  readonly nowMs: number;
}

/** When the next probe is due; undefined: not before a change. */
export function nextProbeAtMs(view: ProbeView): number | undefined {
  const { kind, probe, state, runningSinceMs, isStarted, isEnding, firstDueAtMs, nowMs } = view;
  if (runningSinceMs === undefined || state.isOnHold) return undefined;
  // Other probes wait for the startup probe, which ends with its success.
  if (isStarted === (kind === "startup")) return undefined;
  // Readiness matters until the end; liveness does not, because nothing is restarted.
  if (isEnding && kind !== "readiness") return undefined;
  const period = periodMs(probe);
  if (state.probedAtMs !== undefined) return Math.max(nowMs, state.probedAtMs + Math.min(period, readinessRetryMs(kind, state)));
  const readyAtMs = Math.max(nowMs, runningSinceMs + (probe.initialDelaySeconds ?? 0) * SECOND_MS);
  // Endpoints depend on it, so the first probe runs at once.
  if (kind === "readiness" && state.result !== "success") return readyAtMs;
  return firstDueAtMs + Math.max(0, Math.ceil((readyAtMs - firstDueAtMs) / period)) * period;
}

/** Back-off of a readiness probe that has only failed so far; it ends at the period. */
function readinessRetryMs(kind: ProbeKind, { hasSucceeded, last, run }: ProbeState): number {
  if (kind !== "readiness" || hasSucceeded || last !== "failure") return Infinity;
  return READINESS_RETRY_MS * 2 ** (run - 1);
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
