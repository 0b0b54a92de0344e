/** Validation of probes and lifecycle handlers of a container. */
import type { HTTPGetAction, Lifecycle, LifecycleHandler, Probe, ProbeHandler } from "../../../../generated/core/v1.ts";
import { forbidden, invalid, notSupported, required } from "../../../../machinery/field-error.ts";
import type { FieldErrors } from "../../../../machinery/findings.ts";
import { validateHttpHeaderName } from "../../../../machinery/names.ts";
import { notNegative, portNumber, portNumberOrName } from "./checks.ts";
import type { AnyContainer } from "../containers.ts";

const SCHEMES = ["HTTP", "HTTPS"];
const PROBE_NUMBERS = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"] as const;

/** All probes and lifecycle hooks of a container. */
export function validateProbesAndLifecycle(errors: FieldErrors, container: AnyContainer, gracePeriodSeconds: number, at: string): void {
  const { lifecycle, livenessProbe, readinessProbe, startupProbe } = container;
  if (lifecycle !== undefined) validateLifecycle(errors, lifecycle, gracePeriodSeconds, `${at}.lifecycle`);
  if (livenessProbe !== undefined) validateRestartingProbe(errors, livenessProbe, `${at}.livenessProbe`);
  if (readinessProbe !== undefined) validateReadinessProbe(errors, readinessProbe, `${at}.readinessProbe`);
  if (startupProbe !== undefined) validateRestartingProbe(errors, startupProbe, `${at}.startupProbe`);
}

/** The success threshold of liveness and startup probes must be 1. */
function validateRestartingProbe(errors: FieldErrors, probe: Probe, at: string): void {
  validateProbe(errors, probe, at);
  if (probe.successThreshold !== 1) errors.add(invalid(`${at}.successThreshold`, probe.successThreshold ?? 0, "must be 1"));
}

/** A readiness probe terminates nothing, so it has no grace period. */
function validateReadinessProbe(errors: FieldErrors, probe: Probe, at: string): void {
  validateProbe(errors, probe, at);
  if (probe.terminationGracePeriodSeconds !== undefined) {
    errors.add(invalid(`${at}.terminationGracePeriodSeconds`, probe.terminationGracePeriodSeconds, "must not be set for readinessProbes"));
  }
}

function validateProbe(errors: FieldErrors, probe: Probe, at: string): void {
  validateHandler(errors, probe, at);
  for (const name of PROBE_NUMBERS) if ((probe[name] ?? 0) < 0) errors.addAll(notNegative(probe[name], `${at}.${name}`));
  const { terminationGracePeriodSeconds: graceSeconds } = probe;
  if (graceSeconds !== undefined && graceSeconds <= 0) {
    errors.add(invalid(`${at}.terminationGracePeriodSeconds`, graceSeconds, "must be greater than 0"));
  }
}

function validateLifecycle(errors: FieldErrors, { postStart, preStop }: Lifecycle, gracePeriodSeconds: number, at: string): void {
  if (postStart !== undefined) validateHandler(errors, postStart, `${at}.postStart`, gracePeriodSeconds);
  if (preStop !== undefined) validateHandler(errors, preStop, `${at}.preStop`, gracePeriodSeconds);
}

/** Exactly one handler type; the first in this order is validated. */
function validateHandler(errors: FieldErrors, handler: ProbeHandlers & LifecycleHandler, at: string, gracePeriodSeconds = Infinity): void {
  const given = HANDLERS.filter((name) => handler[name] !== undefined);
  const [first, ...surplus] = given;
  if (first === undefined) return errors.add(required(at, "must specify a handler type"));
  validateHandlerKind(errors, handler, first, `${at}.${first}`, gracePeriodSeconds);
  for (const name of surplus) errors.add(forbidden(`${at}.${name}`, "may not specify more than 1 handler type"));
}

type ProbeHandlers = Pick<ProbeHandler, "exec" | "httpGet" | "tcpSocket" | "grpc">;

const HANDLERS = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] as const;

function validateHandlerKind(
  errors: FieldErrors,
  handler: ProbeHandlers & LifecycleHandler,
  kind: (typeof HANDLERS)[number],
  at: string,
  gracePeriodSeconds: number,
): void {
  if (kind === "exec" && (handler.exec?.command ?? []).length === 0) errors.add(required(`${at}.command`));
  if (kind === "httpGet" && handler.httpGet !== undefined) validateHttpGet(errors, handler.httpGet, at);
  if (kind === "tcpSocket") errors.addAll(portNumberOrName(handler.tcpSocket?.port, `${at}.port`));
  if (kind === "grpc") errors.addAll(portNumber(handler.grpc?.port ?? 0, `${at}.port`));
  const seconds = handler.sleep?.seconds ?? 0;
  if (kind === "sleep" && (seconds < 0 || seconds > gracePeriodSeconds)) {
    errors.add(invalid(at, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriodSeconds})`));
  }
}

function validateHttpGet(errors: FieldErrors, { path, port, scheme, httpHeaders }: HTTPGetAction, at: string): void {
  if (!path) errors.add(required(`${at}.path`));
  errors.addAll(portNumberOrName(port, `${at}.port`));
  if (!SCHEMES.includes(scheme ?? "")) errors.add(notSupported(`${at}.scheme`, scheme ?? "", SCHEMES));
  for (const { name } of httpHeaders ?? []) {
    for (const problem of validateHttpHeaderName(name)) errors.add(invalid(`${at}.httpHeaders`, name, problem));
  }
}
