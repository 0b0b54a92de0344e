/**
 * Runs probes and hooks against the Pod network with real sockets. Every failure is a result with the message of upstream's kubelet, which
 * is Go's.
 */
import { aborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { decode, encode, type MessageDescriptor } from "../../base/protobuf/messages.ts";
import { GrpcError, openGrpcChannel, type GrpcChannel } from "../../host/grpc/channel.ts";
import { connectOnce, requestOnce, type PlainAnswer } from "../../host/http/client/plain-request.ts";
import { formatSeconds } from "../pod/containers/back-off.ts";
import { ProbeTimeout, type HttpProbeRequest, type ProbeActions, type ProbeAnswer } from "../contracts/probe-actions.ts";
import { goCodeName, goDialError, goHttpError, goTimeout } from "./go-errors.ts";

/** Upstream's limit of a response body. */
const BODY_BYTES_MAX = 10 * 1024;
/** As Go's client. */
const REDIRECTS_MAX = 10;
const REDIRECT_CODES = [301, 302, 303, 307, 308];
/** Retry interval: a server may come up before the probe's deadline. */
const CONNECT_AGAIN_MS = 100;
/** The signal ends a call; the library requires this deadline. */
const CALL_TIMEOUT_MS = 24 * 3_600_000;

export function createProbeActions({ clock }: { readonly clock: Clock }): ProbeActions {
  return {
    http: (request, signal) => clock.external(probeHttp(request, signal)),
    tcp: (host, port, signal) => clock.external(probeTcp(host, port, signal)),
    grpc: (host, port, service, signal) => probeGrpc({ host, port, service, clock }, signal),
  };
}

function failure(output: string): ProbeAnswer {
  return { result: "failure", output };
}

/** "10.0.0.1:80", "[fd00::1]:80". */
function addressOf(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

// ── HTTP ────────────────────────────────────────────────────────────────────────────────────────────

async function probeHttp(request: HttpProbeRequest, signal: AbortSignal): Promise<ProbeAnswer> {
  let at = request;
  for (let redirects = 0; ; redirects++) {
    const url = `${at.scheme}://${addressOf(at.host, at.port)}${at.path}`;
    let answer: PlainAnswer;
    try {
      answer = await requestOnce({ ...at, bodyBytesMax: BODY_BYTES_MAX }, signal);
    } catch (error) {
      return failure(`Get "${url}": ${goHttpError(error, { address: addressOf(at.host, at.port), signal })}`);
    }
    const next = redirectOf(at, url, answer);
    if (next === undefined) return judged(answer);
    if (redirects + 1 >= REDIRECTS_MAX) return failure(`Get "${next.path}": stopped after ${REDIRECTS_MAX} redirects`);
    at = next;
  }
}

/** Only to the same host: another host's answer says nothing about the Pod. */
function redirectOf(request: HttpProbeRequest, url: string, { code, location }: PlainAnswer): HttpProbeRequest | undefined {
  if (!REDIRECT_CODES.includes(code) || location === undefined || !URL.canParse(location, url)) return undefined;
  const target = new URL(location, url);
  const scheme = target.protocol === "https:" ? "https" : "http";
  if (target.hostname !== new URL(url).hostname) return undefined;
  const port = target.port === "" ? (scheme === "https" ? 443 : 80) : Number(target.port);
  return { ...request, scheme, port, path: `${target.pathname}${target.search}` };
}

/** The body of a failure is not reported: it may be secret. */
function judged({ code, body }: PlainAnswer): ProbeAnswer {
  if (code >= 200 && code < 300) return { result: "success", output: body, code };
  if (code >= 300 && code < 400) return { result: "warning", output: `Probe terminated redirects, Response body: ${body}`, code };
  return { result: "failure", output: `HTTP probe failed with statuscode: ${code}`, code };
}

// ── TCP ─────────────────────────────────────────────────────────────────────────────────────────────

async function probeTcp(host: string, port: number, signal: AbortSignal): Promise<ProbeAnswer> {
  try {
    await connectOnce(host, port, signal);
    return { result: "success", output: "" };
  } catch (error) {
    return failure(goDialError(error, { address: addressOf(host, port), signal }));
  }
}

// ── gRPC ────────────────────────────────────────────────────────────────────────────────────────────

const HEALTH_CHECK = "/grpc.health.v1.Health/Check";
const REQUEST = { name: "HealthCheckRequest", fields: { service: { number: 1, type: "string" } } } as const satisfies MessageDescriptor;
const RESPONSE = { name: "HealthCheckResponse", fields: { status: { number: 1, type: "int32" } } } as const satisfies MessageDescriptor;
const SERVING = 1;
const STATUSES = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];

interface GrpcTarget {
  readonly host: string;
  readonly port: number;
  readonly service: string;
  readonly clock: Clock;
}

async function probeGrpc({ host, port, service, clock }: GrpcTarget, signal: AbortSignal): Promise<ProbeAnswer> {
  const channel = await openGrpcChannel({ host, port, clock });
  try {
    const answer = decode(RESPONSE, await callUntilThere(channel, encode(REQUEST, { service }), clock, signal));
    if (answer.status === SERVING) return { result: "success", output: "service healthy" };
    return failure(`service unhealthy (responded with "${STATUSES[answer.status] ?? answer.status}")`);
  } catch (error) {
    return failure(grpcWords(error, { address: addressOf(host, port), signal, isConnected: channel.connection !== undefined }));
  } finally {
    channel.close();
  }
}

/** As upstream's, it waits for a connection until its deadline. */
async function callUntilThere(channel: GrpcChannel, request: Uint8Array, clock: Clock, signal: AbortSignal): Promise<Uint8Array> {
  for (;;) {
    try {
      return await channel.call(HEALTH_CHECK, request, { timeoutMs: CALL_TIMEOUT_MS, signal });
    } catch (error) {
      const isAway = error instanceof GrpcError && !error.sent && error.code === "UNAVAILABLE";
      if (!isAway || signal.aborted) throw error;
      await Promise.race([clock.sleep(CONNECT_AGAIN_MS, signal).catch(() => undefined), aborted(signal)]);
    }
  }
}

interface GrpcFailure {
  readonly address: string;
  readonly signal: AbortSignal;
  readonly isConnected: boolean;
}

function grpcWords(error: unknown, { address, signal, isConnected }: GrpcFailure): string {
  if (signal.aborted) {
    const within = signal.reason instanceof ProbeTimeout ? formatSeconds(signal.reason.timeoutMs) : "0s";
    return isConnected
      ? `timeout: health rpc did not complete within ${within}`
      : `timeout: failed to connect service "${address}" within ${within}: ${goTimeout}`;
  }
  if (!(error instanceof GrpcError)) return `error: health rpc probe failed: ${error instanceof Error ? error.message : String(error)}`;
  if (error.code === "UNIMPLEMENTED")
    return `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${error.details}`;
  return `error: health rpc probe failed: rpc error: code = ${goCodeName(error.code)} desc = ${error.details}`;
}
