/** Requests of the Kubernetes API with JSON bodies. Every error response is a StatusError with the server's message. */
import { JSON_TYPE } from "../../api/machinery/codec/media-type.ts";
import type { JsonObject } from "../../api/machinery/object.ts";
import { StatusError } from "../../api/machinery/status-error.ts";
import { errorOfAnswer } from "../../api/machinery/wire/status-response.ts";
import type { ClusterConnection, ConnectionRequest, ConnectionResponse } from "./connection.ts";

/** Reviews are created, and change nothing. */
const REVIEWS = "/apis/auth";

export class ClusterApi {
  readonly connection: ClusterConnection;
  /** Called when the server no longer accepts the credential. */
  readonly #onUnauthorized: () => void;

  constructor(connection: ClusterConnection, onUnauthorized: () => void = () => undefined) {
    this.connection = connection;
    this.#onUnauthorized = onUnauthorized;
  }

  /** A successful response. Rejects with a StatusError, or with the signal's reason. */
  async send(request: ConnectionRequest): Promise<ConnectionResponse> {
    const isRepeatable = request.method === undefined || request.method === "GET" || request.path.startsWith(REVIEWS);
    const response = await this.#send(request, isRepeatable).catch((error: unknown) => {
      if (request.signal?.aborted === true) throw request.signal.reason;
      throw new StatusError("ServiceUnavailable", `Cannot reach the API server: ${(error as Error).message}`, { cause: error });
    });
    if (response.code >= 200 && response.code < 300) return response;
    if (response.code === 401) this.#onUnauthorized();
    const body = await response.bytes();
    throw errorOfAnswer({ code: response.code, body, retryAfterSeconds: Infinity, asked: { method: request.method ?? "GET" } });
  }

  /** Browsers abort all requests when an address of the machine changes, so one that changes nothing is repeated once. */
  async #send(request: ConnectionRequest, isRepeatable: boolean): Promise<ConnectionResponse> {
    const { connection } = this;
    const attempt = connection.send(request);
    return isRepeatable
      ? attempt.catch((error: unknown) => (request.signal?.aborted === true ? Promise.reject(error) : connection.send(request)))
      : attempt;
  }

  /** The server's schema guarantees the type. */
  async json<T = JsonObject>(request: ConnectionRequest): Promise<T> {
    const response = await this.send(request);
    return JSON.parse(new TextDecoder().decode(await response.bytes())) as T;
  }

  get<T = JsonObject>(path: string, signal?: AbortSignal): Promise<T> {
    return this.json({ path, ...(signal === undefined ? {} : { signal }) });
  }

  post<T = JsonObject>(path: string, value: JsonObject): Promise<T> {
    return this.json({ method: "POST", path, contentType: JSON_TYPE, body: JSON.stringify(value) });
  }
}
