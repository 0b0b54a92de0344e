/**
 * Probes the containers of one Pod: each probe has one timer and at most one request in flight. The results decide whether a container is
 * started and ready, and which one has to be restarted; the Pod worker is notified only of changes. Not here: state transitions and due
 * times (probe-state.ts), running a probe (run-probe.ts).
 */
import type { Container, Pod, Probe } from "../../api/generated/core/v1.ts";
import { isSidecar } from "../../api/core/v1/pod/containers.ts";
import { isTerminal } from "../../api/core/v1/pod/readiness.ts";
import { NOT_NEEDED } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { EventRecorder } from "../../client/events/event-recorder.ts";
import type { ExecRuntime } from "../exec/exec-in-container.ts";
import type { RuntimeContainer, SandboxStatus } from "../contracts/runtime.ts";
import { isRunning, newestContainer } from "../pod/containers/runtime-containers.ts";
import { messageOf, recordContainerEvent } from "../pod/pod-events.ts";
import type { ProbeActions, ProbeAnswer } from "../contracts/probe-actions.ts";
import type { CountedProbe, ProbeMetrics } from "./probe-metrics.ts";
import {
  afterAnswer,
  newProbeState,
  nextProbeAtMs,
  periodMs,
  PROBE_KINDS,
  probeOf,
  probeTitle,
  type ProbeKind,
  type ProbeState,
  type Unhealthy,
} from "./probe-state.ts";
import { runProbe } from "./run-probe.ts";

/** Attempts of a probe that could not be run, before it waits for the next period. Upstream's number. */
const TRIES_MAX = 3;

export interface PodProberOptions {
  readonly runtime: ExecRuntime & { readonly version: string };
  readonly actions: ProbeActions | undefined;
  readonly recorder: EventRecorder;
  readonly hostIps: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  /** Start time of the kubelet: probes of Pods that it finds then are spread over their periods. */
  readonly startedAtMs: number;
  /** Absent: no metrics are collected. */
  readonly metrics?: ProbeMetrics | undefined;
  /** Called when a result changed. */
  onChange(): void;
}

/** The observed state of the Pod. */
export interface ProbedPod {
  readonly pod: Pod;
  readonly sandbox: SandboxStatus | undefined;
  /** Containers whose start is in progress, by name. */
  readonly starting: ReadonlySet<string>;
}

/** The probes of one kind of one container, whatever its attempt. */
interface Probing {
  readonly kind: ProbeKind;
  readonly name: string;
  readonly firstDueAtMs: number;
  containerId: string | undefined;
  state: ProbeState;
  dueAtMs: number | undefined;
  timer: AbortController | undefined;
  asking: AbortController | undefined;
}

export class PodProber {
  readonly #options: PodProberOptions;
  readonly #beganAtMs: number;
  readonly #probings = new Map<string, Probing>();
  /** Readiness reported by an earlier kubelet process, by container id. */
  readonly #reported: ReadonlyMap<string, { readonly isReady: boolean; readonly isStarted: boolean }>;
  #seen: ProbedPod | undefined;
  #isEnding = false;

  constructor(pod: Pod, options: PodProberOptions) {
    this.#options = options;
    this.#beganAtMs = options.clock.now();
    const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
    this.#reported = new Map(
      statuses.map(({ containerID = "", ready, started }) => [containerID, { isReady: ready, isStarted: started === true }]),
    );
  }

  /** Returns the sandbox with the results of probes, and schedules further ones. */
  observe(seen: ProbedPod): SandboxStatus | undefined {
    this.#seen = seen;
    const { sandbox } = seen;
    for (const container of probedContainers(seen.pod)) {
      for (const kind of PROBE_KINDS) {
        const probe = probeOf(container, kind);
        if (probe !== undefined) this.#follow(this.#probing(container.name, kind, probe), newestContainer(sandbox, container.name));
      }
    }
    for (const probing of this.#probings.values()) this.#schedule(probing);
    if (isTerminal(seen.pod)) this.#forgetCounts(this.#probings.values());
    if (sandbox === undefined) return undefined;
    return { ...sandbox, containers: sandbox.containers.map((known) => this.#shown(known)) };
  }

  /** Running containers that have to be restarted. */
  get unhealthy(): Unhealthy {
    const found = new Map<string, "startup" | "liveness">();
    for (const { kind, state, containerId } of this.#probings.values())
      if (kind !== "readiness" && state.result === "failure" && containerId !== undefined) found.set(containerId, kind);
    return found;
  }

  /** The Pod terminates: no container is restarted any more. */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    for (const probing of this.#probings.values()) {
      if (probing.kind === "readiness") continue;
      probing.asking?.abort(NOT_NEEDED);
      if (probing.state.result === "failure") probing.state = { ...probing.state, result: "success" };
      this.#schedule(probing);
      this.#forgetCounts([probing]);
    }
  }

  stop(): void {
    this.#forgetCounts(this.#probings.values());
    this.#seen = undefined;
    for (const { timer, asking } of this.#probings.values()) {
      timer?.abort(NOT_NEEDED);
      asking?.abort(NOT_NEEDED);
    }
    this.#probings.clear();
  }

  // ── containers ────────────────────────────────────────────────────────────────────────────────────

  #probing(name: string, kind: ProbeKind, probe: Probe): Probing {
    const key = `${kind} ${name}`;
    const known = this.#probings.get(key);
    if (known !== undefined) return known;
    const firstDueAtMs = this.#beganAtMs + this.#firstDueMs(probe);
    const state = newProbeState(kind);
    const probing: Probing = {
      kind,
      name,
      firstDueAtMs,
      containerId: undefined,
      state,
      dueAtMs: undefined,
      timer: undefined,
      asking: undefined,
    };
    this.#probings.set(key, probing);
    return probing;
  }

  /**
   * One period after the Pod was added; for Pods that a kubelet finds at its start, with jitter within the period, so that their probes do
   * not coincide.
   */
  #firstDueMs(probe: Probe): number {
    const { random, startedAtMs } = this.#options;
    const period = periodMs(probe);
    return this.#beganAtMs - startedAtMs < period ? random.fraction() * period : period;
  }

  /** Another attempt has no results yet. */
  #follow(probing: Probing, known: RuntimeContainer | undefined): void {
    if (known === undefined || known.id === probing.containerId) return;
    probing.asking?.abort(NOT_NEEDED);
    probing.asking = undefined;
    probing.containerId = known.id;
    probing.state = newProbeState(probing.kind, this.#reported.get(this.#fullId(known.id)));
  }

  #fullId(id: string): string {
    const { version } = this.#options.runtime;
    return `${version.slice(0, version.indexOf("://"))}://${id}`;
  }

  #shown(known: RuntimeContainer): RuntimeContainer {
    if (!isRunning(known)) return known;
    const started = this.#isStarted(known);
    const readiness = this.#stateOf(known, "readiness");
    return { ...known, started, ready: started && (readiness === undefined || readiness.result === "success") };
  }

  #isStarted(known: RuntimeContainer): boolean {
    // A container has not started until its postStart hook has completed.
    if (!isRunning(known) || this.#seen?.starting.has(known.name) === true) return false;
    const startup = this.#stateOf(known, "startup");
    return startup === undefined || startup.result === "success";
  }

  #stateOf({ name, id }: RuntimeContainer, kind: ProbeKind): ProbeState | undefined {
    const probing = this.#probings.get(`${kind} ${name}`);
    return probing?.containerId === id ? probing.state : undefined;
  }

  // ── timers ────────────────────────────────────────────────────────────────────────────────────────

  #schedule(probing: Probing): void {
    const { clock } = this.#options;
    if (probing.asking !== undefined) return;
    const dueAtMs = this.#dueAtMs(probing);
    if (dueAtMs === probing.dueAtMs && (dueAtMs === undefined || probing.timer !== undefined)) return;
    probing.timer?.abort(NOT_NEEDED);
    probing.timer = undefined;
    probing.dueAtMs = dueAtMs;
    if (dueAtMs === undefined) return;
    const timer = new AbortController();
    probing.timer = timer;
    clock.sleep(Math.max(0, dueAtMs - clock.now()), timer.signal).then(
      () => void this.#probe(probing, dueAtMs),
      () => undefined, // The state of the Pod changed.
    );
  }

  #dueAtMs({ name, kind, state, firstDueAtMs, containerId }: Probing): number | undefined {
    const { pod, sandbox } = this.#seen ?? {};
    const known = newestContainer(sandbox, name);
    const container = pod === undefined ? undefined : probedContainers(pod).find((candidate) => candidate.name === name);
    const probe = container === undefined ? undefined : probeOf(container, kind);
    if (probe === undefined || known === undefined || known.id !== containerId) return undefined;
    const runningSinceMs = known.state.is === "running" && !this.#isHeld(known) ? known.state.startedAtMs : undefined;
    const nowMs = this.#options.clock.now();
    return nextProbeAtMs({
      kind,
      probe,
      state,
      runningSinceMs,
      isStarted: this.#isStarted(known),
      isEnding: this.#isEnding,
      firstDueAtMs,
      nowMs,
    });
  }

  /** Its postStart hook is still running. */
  #isHeld({ name }: RuntimeContainer): boolean {
    return this.#seen?.starting.has(name) === true;
  }

  // ── probes ────────────────────────────────────────────────────────────────────────────────────────

  async #probe(probing: Probing, dueAtMs: number): Promise<void> {
    const asking = new AbortController();
    probing.timer = undefined;
    probing.dueAtMs = undefined;
    probing.asking = asking;
    const answer = await this.#attempt(probing, asking.signal);
    // The result is of another container, or of one that is no longer probed.
    if (asking.signal.aborted) {
      if (probing.asking === asking) probing.asking = undefined;
      return;
    }
    probing.asking = undefined;
    const before = probing.state;
    probing.state = { ...before, probedAtMs: dueAtMs };
    const probe = this.#definition(probing)?.probe;
    if (answer !== undefined && probe !== undefined)
      probing.state = afterAnswer(probing.state, {
        kind: probing.kind,
        probe,
        answer: answer.result === "failure" ? "failure" : "success",
      });
    if (probing.state.result === before.result) this.#schedule(probing);
    else this.#options.onChange();
  }

  /** Undefined: the probe could not be run. Never rejects. */
  async #attempt(probing: Probing, signal: AbortSignal): Promise<ProbeAnswer | undefined> {
    const { pod, sandbox } = this.#seen ?? {};
    const { containerId } = probing;
    const definition = this.#definition(probing);
    if (pod === undefined || definition === undefined || containerId === undefined) return undefined;
    const podIp = (pod.spec?.hostNetwork === true ? this.#options.hostIps[0] : sandbox?.ips[0]) ?? "";
    let failure: unknown;
    const askedAtMs = this.#options.clock.monotonic();
    for (let tries = 0; tries < TRIES_MAX && !signal.aborted; tries++) {
      try {
        const answer = await runProbe(definition.probe, { container: definition.container, containerId, podIp }, this.#options, signal);
        if (!signal.aborted) this.#record(pod, probing, answer, askedAtMs);
        return answer;
      } catch (error) {
        failure = error;
      }
    }
    if (!signal.aborted) this.#recordProblem(pod, probing, `probe errored and resulted in unknown state: ${messageOf(failure)}`);
    return undefined;
  }

  #definition({ name, kind }: Probing): { readonly container: Container; readonly probe: Probe } | undefined {
    const container = this.#seen && probedContainers(this.#seen.pod).find((candidate) => candidate.name === name);
    const probe = container && probeOf(container, kind);
    return container === undefined || probe === undefined ? undefined : { container, probe };
  }

  #record(pod: Pod, probing: Probing, { result, output }: ProbeAnswer, askedAtMs: number): void {
    const { metrics, clock } = this.#options;
    metrics?.ended(counted(pod, probing), result === "failure" ? "failed" : "successful", clock.monotonic() - askedAtMs);
    if (result === "failure") this.#recordProblem(pod, probing, `probe failed: ${output}`);
    else if (result === "warning") this.#recordProblem(pod, probing, `probe warning: ${output}`, "ProbeWarning");
  }

  #recordProblem(pod: Pod, { name, kind }: Probing, message: string, reason = "Unhealthy"): void {
    recordContainerEvent(this.#options.recorder, pod, name, { type: "Warning", reason, message: `${probeTitle(kind)} ${message}` });
  }

  /** Probes that are no longer needed. */
  #forgetCounts(probings: Iterable<Probing>): void {
    const { metrics } = this.#options;
    const pod = this.#seen?.pod;
    if (metrics === undefined || pod === undefined) return;
    for (const probing of probings) metrics.removed(counted(pod, probing));
  }
}

function counted(pod: Pod, { name, kind }: Probing): CountedProbe {
  return { pod, container: name, kind };
}

/** Containers that run for as long as their Pod. */
function probedContainers({ spec }: Pod): readonly Container[] {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? []).filter(isSidecar)];
}
