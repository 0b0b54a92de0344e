/** Takes in the body of one request: at once if it is small, when there is memory and a turn for it if it is large (large-bodies.ts). */
import { JSON_TYPE } from "../../api/machinery/codec/media-type.ts";
import type { ExchangeRequest } from "../exchange.ts";
import { LARGE_BODY_BYTES, LARGE_YAML_BYTES, type LargeBodies, type LargeBody } from "../large-bodies.ts";
import type { RequestBody, User } from "../request.ts";

/** For a body of unknown length, where the kind of request has no limit of its own: that of the HTTP server. */
const UNKNOWN_BYTES = 3 * 1024 * 1024;
const OPEN_BRACE = 0x7b;

export class BodyReceiver {
  readonly #bodies: LargeBodies;
  readonly #request: ExchangeRequest;
  readonly #user: User;
  #large: LargeBody | undefined;

  constructor(bodies: LargeBodies, request: ExchangeRequest, user: User) {
    this.#bodies = bodies;
    this.#request = request;
    this.#user = user;
  }

  async receive(bytesMax: number | undefined): Promise<RequestBody> {
    const expected = this.#expectedBytes(bytesMax);
    // One that is rejected anyway (413) needs no memory.
    if (expected > LARGE_BODY_BYTES && expected <= (bytesMax ?? UNKNOWN_BYTES)) await this.#reserve(expected);
    const bytes = await this.#request.body(bytesMax);
    const contentType = this.#request.header("content-type") ?? JSON_TYPE;
    if (!isLarge(bytes, contentType)) {
      this.release();
      return { form: "bytes", bytes, contentType };
    }
    const large = this.#large ?? (await this.#reserve(bytes.length));
    await large.startWork();
    return { form: "bytes", bytes, contentType, breathe: () => large.breathe() };
  }

  /** At the end of the request, also of one whose body was never asked for. */
  release(): void {
    this.#large?.release();
    this.#large = undefined;
  }

  async #reserve(bytes: number): Promise<LargeBody> {
    return (this.#large = await this.#bodies.reserve(this.#user.name, bytes, this.#request.signal));
  }

  /** Bodies have a length with every common client; one without may become as large as is allowed. */
  #expectedBytes(bytesMax = UNKNOWN_BYTES): number {
    const declared = this.#request.header("content-length");
    if (declared !== undefined) return Number(declared);
    return this.#request.method === "DELETE" ? 0 : bytesMax;
  }
}

/** What kubectl sends as YAML is JSON. */
function isLarge(bytes: Uint8Array, contentType: string): boolean {
  if (bytes.length <= LARGE_YAML_BYTES) return false;
  return bytes.length > LARGE_BODY_BYTES || (bytes[0] !== OPEN_BRACE && contentType.includes("yaml"));
}
