/** How probes and hooks reach into a Pod's network. Pure rules ask through here; machine/probe-actions.ts has the sockets. */

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

/** Nothing is thrown: what went wrong is an answer, too. `output` is what people are told, in upstream's words. */
export interface ProbeAnswer {
  readonly result: "success" | "warning" | "failure";
  readonly output: string;
  /** Of HTTP, if there was an answer at all: to hooks every one will do. */
  readonly code?: number;
}

/** The reason of the signal when the time of a probe is up: what people are told says how long it was. */
export class ProbeTimeout extends Error {
  override readonly name = "ProbeTimeout";
  readonly timeoutMs: number;

  constructor(timeoutMs: number) {
    super(`It took longer than ${timeoutMs} ms`);
    this.timeoutMs = timeoutMs;
  }
}
