/** Network requests of probes and hooks into a Pod's network. Contract; machine/probe-actions.ts implements it with sockets. */

export interface ProbeActions {
  http(request: HttpProbeRequest, signal: AbortSignal): Promise<ProbeAnswer>;
  tcp(host: string, port: number, signal: AbortSignal): Promise<ProbeAnswer>;
  grpc(host: string, port: number, service: string, signal: AbortSignal): Promise<ProbeAnswer>;
}

export interface HttpProbeRequest {
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly port: number;
  /** With its query. */
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Never rejects: an error is a result, too. `output` is shown to users, with upstream's message. */
export interface ProbeAnswer {
  readonly result: "success" | "warning" | "failure";
  readonly output: string;
  /** HTTP status code, if there was a response: hooks accept any. */
  readonly code?: number;
}

/** Abort reason when the timeout of a probe expires: the message contains the timeout. */
export class ProbeTimeout extends Error {
  override readonly name = "ProbeTimeout";
  readonly timeoutMs: number;

  constructor(timeoutMs: number) {
    super(`It took longer than ${timeoutMs} ms`);
    this.timeoutMs = timeoutMs;
  }
}
