/**
 * Runs a probe once, within its timeout. Any response of the container, or none, is a result; only what prevents the kubelet from probing
 * (a command that cannot run, an unknown port) rejects.
 */
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import type { Container, Probe } from "../../api/generated/core/v1.ts";
import type { Clock } from "../../base/clock.ts";
import { formatSeconds } from "../pod/containers/back-off.ts";
import { execIn, type ExecRuntime } from "../exec/exec-in-container.ts";
import { ProbeTimeout, type ProbeActions, type ProbeAnswer } from "../contracts/probe-actions.ts";
import { containerPort, httpRequestOf } from "./probe-requests.ts";

const SECOND_MS = 1000;

export interface ProbeTarget {
  readonly container: Container;
  readonly containerId: string;
  /** "" if it has none. */
  readonly podIp: string;
}

export interface RunProbeOptions {
  readonly runtime: ExecRuntime;
  readonly actions: ProbeActions | undefined;
  readonly clock: Clock;
}

/** `signal`: the result is no longer needed. */
export async function runProbe(
  probe: Probe,
  target: ProbeTarget,
  { runtime, actions, clock }: RunProbeOptions,
  signal: AbortSignal,
): Promise<ProbeAnswer> {
  const timeoutMs = Math.max(1, probe.timeoutSeconds ?? 1) * SECOND_MS;
  if (probe.exec !== undefined) {
    const command = expanded(probe.exec.command ?? [], target.container);
    return runCommand(command, target, { runtime, clock, timeoutMs }, signal);
  }
  if (actions === undefined) throw new Error("the network of Pods is not reachable");
  return within(timeoutMs, { clock, signal }, (probing) => performProbe(probe, target, actions, probing));
}

async function performProbe(
  probe: Probe,
  { container, podIp }: ProbeTarget,
  actions: ProbeActions,
  signal: AbortSignal,
): Promise<ProbeAnswer> {
  const { httpGet, tcpSocket, grpc } = probe;
  if (httpGet !== undefined) return actions.http(httpRequestOf(httpGet, container, { podIp, purpose: "probe" }), signal);
  if (tcpSocket !== undefined) {
    const { host = "" } = tcpSocket;
    return actions.tcp(host === "" ? podIp : host, containerPort(tcpSocket.port, container), signal);
  }
  if (grpc !== undefined) return actions.grpc(podIp, grpc.port, grpc.service ?? "", signal);
  throw new Error(`missing probe handler for ${container.name}`);
}

async function runCommand(
  command: readonly string[],
  { containerId }: ProbeTarget,
  { runtime, clock, timeoutMs }: { readonly runtime: ExecRuntime; readonly clock: Clock; readonly timeoutMs: number },
  signal: AbortSignal,
): Promise<ProbeAnswer> {
  const { exitCode, output } = await execIn(containerId, command, { runtime, clock, timeoutMs }, signal);
  if (exitCode === undefined) {
    const said = `command timed out: ${quoteGo(command.join(" "))} timed out after ${formatSeconds(timeoutMs)}`;
    return { result: "failure", output: said };
  }
  return { result: exitCode === 0 ? "success" : "failure", output };
}

/** Only variables with a literal value; `$$` is a dollar sign. As upstream, others are not known here. */
function expanded(command: readonly string[], { env = [] }: Container): readonly string[] {
  const values = new Map(env.flatMap(({ name, value, valueFrom }) => (valueFrom === undefined ? [[name, value ?? ""] as const] : [])));
  return command.map((word) =>
    word.replace(/\$\$|\$\(([^)]*)\)/g, (whole, name: string | undefined) => (name === undefined ? "$" : (values.get(name) ?? whole))),
  );
}

async function within<T>(
  timeoutMs: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const time = new AbortController();
  const over = new AbortController();
  clock.sleep(timeoutMs, over.signal).then(
    () => time.abort(new ProbeTimeout(timeoutMs)),
    () => undefined, // Cancels the timeout.
  );
  try {
    return await work(AbortSignal.any([time.signal, signal]));
  } finally {
    over.abort();
  }
}
