/** Validation of probes and lifecycle handlers of a container. */
import type { HTTPGetAction, Lifecycle, LifecycleHandler, Probe, ProbeHandler } from "../../../../generated/core/v1.ts";
import { forbidden, invalid, notSupported, required, type FieldError } from "../../../../machinery/field-error.ts";
import { validateHttpHeaderName } from "../../../../machinery/names.ts";
import { notNegative, portNumber, portNumberOrName } from "./checks.ts";
import type { AnyContainer } from "../containers.ts";

const SCHEMES = ["HTTP", "HTTPS"];
const PROBE_NUMBERS = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"] as const;

/** All probes and lifecycle hooks of a container. */
export function* validateProbesAndLifecycle(container: AnyContainer, gracePeriodSeconds: number, at: string): Iterable<FieldError> {
  const { lifecycle, livenessProbe, readinessProbe, startupProbe } = container;
  if (lifecycle !== undefined) yield* validateLifecycle(lifecycle, gracePeriodSeconds, `${at}.lifecycle`);
  if (livenessProbe !== undefined) yield* validateRestartingProbe(livenessProbe, `${at}.livenessProbe`);
  if (readinessProbe !== undefined) yield* validateReadinessProbe(readinessProbe, `${at}.readinessProbe`);
  if (startupProbe !== undefined) yield* validateRestartingProbe(startupProbe, `${at}.startupProbe`);
}

/** The success threshold of liveness and startup probes must be 1. */
function* validateRestartingProbe(probe: Probe, at: string): Iterable<FieldError> {
  yield* validateProbe(probe, at);
  if (probe.successThreshold !== 1) yield invalid(`${at}.successThreshold`, probe.successThreshold ?? 0, "must be 1");
}

/** A readiness probe terminates nothing, so it has no grace period. */
function* validateReadinessProbe(probe: Probe, at: string): Iterable<FieldError> {
  yield* validateProbe(probe, at);
  if (probe.terminationGracePeriodSeconds !== undefined) {
    yield invalid(`${at}.terminationGracePeriodSeconds`, probe.terminationGracePeriodSeconds, "must not be set for readinessProbes");
  }
}

function* validateProbe(probe: Probe, at: string): Iterable<FieldError> {
  yield* validateHandler(probe, at);
  for (const name of PROBE_NUMBERS) if ((probe[name] ?? 0) < 0) yield* notNegative(probe[name], `${at}.${name}`);
  const { terminationGracePeriodSeconds: graceSeconds } = probe;
  if (graceSeconds !== undefined && graceSeconds <= 0) {
    yield invalid(`${at}.terminationGracePeriodSeconds`, graceSeconds, "must be greater than 0");
  }
}

function* validateLifecycle({ postStart, preStop }: Lifecycle, gracePeriodSeconds: number, at: string): Iterable<FieldError> {
  if (postStart !== undefined) yield* validateHandler(postStart, `${at}.postStart`, gracePeriodSeconds);
  if (preStop !== undefined) yield* validateHandler(preStop, `${at}.preStop`, gracePeriodSeconds);
}

/** Exactly one handler type; the first in this order is validated. */
function* validateHandler(handler: ProbeHandlers & LifecycleHandler, at: string, gracePeriodSeconds = Infinity): Iterable<FieldError> {
  const given = HANDLERS.filter((name) => handler[name] !== undefined);
  const [first, ...surplus] = given;
  if (first === undefined) return yield required(at, "must specify a handler type");
  yield* validateHandlerKind(handler, first, `${at}.${first}`, gracePeriodSeconds);
  for (const name of surplus) yield forbidden(`${at}.${name}`, "may not specify more than 1 handler type");
}

type ProbeHandlers = Pick<ProbeHandler, "exec" | "httpGet" | "tcpSocket" | "grpc">;

const HANDLERS = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] as const;

function* validateHandlerKind(
  handler: ProbeHandlers & LifecycleHandler,
  kind: (typeof HANDLERS)[number],
  at: string,
  gracePeriodSeconds: number,
): Iterable<FieldError> {
  if (kind === "exec" && (handler.exec?.command ?? []).length === 0) yield required(`${at}.command`);
  if (kind === "httpGet" && handler.httpGet !== undefined) yield* validateHttpGet(handler.httpGet, at);
  if (kind === "tcpSocket") yield* portNumberOrName(handler.tcpSocket?.port, `${at}.port`);
  if (kind === "grpc") yield* portNumber(handler.grpc?.port ?? 0, `${at}.port`);
  const seconds = handler.sleep?.seconds ?? 0;
  if (kind === "sleep" && (seconds < 0 || seconds > gracePeriodSeconds)) {
    yield invalid(at, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriodSeconds})`);
  }
}

function* validateHttpGet({ path, port, scheme, httpHeaders }: HTTPGetAction, at: string): Iterable<FieldError> {
  if (!path) yield required(`${at}.path`);
  yield* portNumberOrName(port, `${at}.port`);
  if (!SCHEMES.includes(scheme ?? "")) yield notSupported(`${at}.scheme`, scheme ?? "", SCHEMES);
  for (const { name } of httpHeaders ?? []) {
    for (const problem of validateHttpHeaderName(name)) yield invalid(`${at}.httpHeaders`, name, problem);
  }
}
