/** Receives the body of one request: a small one is returned immediately, a large one when it acquires a slot (large-bodies.ts). */
import { JSON_TYPE } from "../../api/machinery/codec/media-type.ts";
import type { MaybePromise } from "../framework/authentication.ts";
import type { ExchangeRequest } from "../framework/exchange.ts";
import { LARGE_BODY_BYTES, LARGE_YAML_BYTES, type LargeBodies, type LargeBody } from "../limits/large-bodies.ts";
import type { RequestBody, User } from "../framework/request.ts";

const OPEN_BRACE = 0x7b;

export class BodyReceiver {
  readonly #bodies: LargeBodies;
  readonly #request: ExchangeRequest;
  readonly #user: User;
  #large: LargeBody | undefined;
  #isOver = false;

  constructor(bodies: LargeBodies, request: ExchangeRequest, user: User) {
    this.#bodies = bodies;
    this.#request = request;
    this.#user = user;
  }

  receive(bytesMax: number | undefined): MaybePromise<RequestBody> {
    const bytes = this.#request.body(bytesMax);
    return bytes instanceof Promise ? bytes.then((received) => this.#accept(received)) : this.#accept(bytes);
  }

  #accept(bytes: Uint8Array): MaybePromise<RequestBody> {
    const contentType = this.#request.header("content-type") ?? JSON_TYPE;
    return isLarge(bytes, contentType) ? this.#acceptLarge(bytes, contentType) : { form: "bytes", bytes, contentType };
  }

  async #acceptLarge(bytes: Uint8Array, contentType: string): Promise<RequestBody> {
    const large = await this.#bodies.startWork(this.#user.name, this.#request.signal);
    // The request may have been cancelled after it acquired its slot.
    if (this.#isOver) large.release();
    this.#large = large;
    return { form: "bytes", bytes, contentType, yieldLoop: () => large.yieldLoop() };
  }

  /** Called at the end of the request, also if its body was never read. */
  release(): void {
    this.#isOver = true;
    this.#large?.release();
  }
}

/** kubectl sends JSON with the media type of YAML. */
function isLarge(bytes: Uint8Array, contentType: string): boolean {
  if (bytes.length <= LARGE_YAML_BYTES) return false;
  return bytes.length > LARGE_BODY_BYTES || (bytes[0] !== OPEN_BRACE && contentType.includes("yaml"));
}
