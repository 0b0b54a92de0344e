/**
 * Writes blobs, unpacked layers and image names into containerd by its own services. Everything is written under a lease, or garbage collection would remove
 * blobs without a reference. A lease that is not deleted, because the process died, expires.
 */
import type { Clock } from "../../../base/clock.ts";
import { decode, encode, type Decoded, type Encodable, type MessageDescriptor } from "../../../base/protobuf/messages.ts";
import { GrpcError, type GrpcChannel } from "../../../host/grpc/channel.ts";
import * as messages from "./containerd-messages.ts";

/** containerd namespace of the CRI's images. */
const NAMESPACE = "k8s.io";
const LEASE_LASTS_MS = 60 * 60_000;
const CALL_TIMEOUT_MS = 30_000;
/** containerd's limit is 16 MiB per message. */
export const CHUNK_BYTES_MAX = 1024 * 1024;

export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

export class ContentStore {
  readonly #channel: GrpcChannel;
  readonly #lease: string;
  readonly #metadata: Readonly<Record<string, string>>;

  private constructor(channel: GrpcChannel, lease: string) {
    this.#channel = channel;
    this.#lease = lease;
    this.#metadata = { "containerd-namespace": NAMESPACE, "containerd-lease": lease };
  }

  static async open(channel: GrpcChannel, { clock, lease }: { readonly clock: Clock; readonly lease: string }): Promise<ContentStore> {
    const store = new ContentStore(channel, lease);
    const expires = new Date(clock.now() + LEASE_LASTS_MS).toISOString();
    await store.#call(`${messages.LEASES}/Create`, messages.LEASE_CREATE, {
      id: lease,
      labels: [{ key: "containerd.io/gc.expire", value: expires }],
    });
    return store;
  }

  /** Deletes the lease: blobs that no image references become garbage. */
  async close(): Promise<void> {
    await this.#call(`${messages.LEASES}/Delete`, messages.LEASE_DELETE, { id: this.#lease });
  }

  /** With `expected` the digest is verified, and an existing blob is not sent. `content` is not closed. */
  async write(content: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<void> {
    await using session = new WriteSession(this.#channel, this.#metadata);
    const { expected = "", ref, sizeBytes: total } = options;
    try {
      let { offset } = await session.send({ action: messages.WRITE_ACTION.stat, ref, total, expected });
      // containerd has these bytes: the blob belongs to another namespace, or is not collected yet. Sent again, they would be appended.
      let present = offset;
      for await (const piece of content) {
        const skipped = Math.min(present, piece.length);
        present -= skipped;
        if (skipped > 0) options.onWritten?.(skipped);
        for (let start = skipped; start < piece.length; start += CHUNK_BYTES_MAX) {
          const data = piece.subarray(start, start + CHUNK_BYTES_MAX);
          ({ offset } = await session.send({ action: messages.WRITE_ACTION.write, ref, total, expected, offset, data }));
          options.onWritten?.(data.length);
        }
      }
      await session.send({ action: messages.WRITE_ACTION.commit, ref, total, expected, offset });
    } catch (error) {
      // It is added to our lease anyway.
      if (!(error instanceof GrpcError) || error.code !== "ALREADY_EXISTS") throw error;
    }
  }

  /** Labels a blob with its references ("content.config", "snapshot.overlayfs"), so that these are kept as long as the blob. */
  async refer(digest: string, references: Readonly<Record<string, string>>): Promise<void> {
    const labels = Object.entries(references).map(([key, value]) => ({ key: `containerd.io/gc.ref.${key}`, value }));
    const updateMask = { paths: labels.map(({ key }) => `labels.${key}`) };
    await this.#call(`${messages.CONTENT}/Update`, messages.CONTENT_UPDATE, { info: { digest, labels }, updateMask });
  }

  /** Replaces an existing image of the name. The CRI is notified by an event and adds its own labels. */
  async name(name: string, target: Descriptor): Promise<void> {
    try {
      await this.#call(`${messages.IMAGES}/Create`, messages.IMAGE_CREATE, { image: { name, target } });
    } catch (error) {
      if (!(error instanceof GrpcError) || error.code !== "ALREADY_EXISTS") throw error;
      await this.#call(`${messages.IMAGES}/Update`, messages.IMAGE_UPDATE, {
        image: { name, target },
        updateMask: { paths: ["target", "labels"] },
      });
    }
  }

  /** A call of another of containerd's services, in the same namespace and under the same lease. */
  ask<Q extends MessageDescriptor, A extends MessageDescriptor>(path: string, call: StoreCall<Q, A>): Promise<Decoded<A>> {
    const { request, message, response, timeoutMs = CALL_TIMEOUT_MS } = call;
    const answer = this.#channel.call(path, encode(request, message), { timeoutMs, metadata: this.#metadata });
    return answer.then((bytes) => decode(response, bytes));
  }

  async #call<M extends MessageDescriptor>(path: string, descriptor: M, request: Encodable<M>): Promise<void> {
    await this.#channel.call(path, encode(descriptor, request), { timeoutMs: CALL_TIMEOUT_MS, metadata: this.#metadata });
  }
}

export interface StoreCall<Q extends MessageDescriptor, A extends MessageDescriptor> {
  readonly request: Q;
  readonly message: Encodable<Q>;
  readonly response: A;
  readonly timeoutMs?: number;
}

export interface WriteOptions {
  /** Reference of this write, unique to this import. */
  readonly ref: string;
  readonly sizeBytes: number;
  readonly expected?: string;
  readonly onWritten?: (bytes: number) => void;
}

type WriteResponse = Decoded<typeof messages.WRITE_RESPONSE>;

/** Sends one request and reads one response over a stream. */
class WriteSession implements AsyncDisposable {
  readonly #stream: ReturnType<GrpcChannel["stream"]>;
  #waiting: { resolve(response: WriteResponse): void; reject(error: unknown): void } | undefined;
  #ended: Error | undefined;

  constructor(channel: GrpcChannel, metadata: Readonly<Record<string, string>>) {
    this.#stream = channel.stream(
      `${messages.CONTENT}/Write`,
      { metadata },
      {
        message: (bytes) => this.#waiting?.resolve(decode(messages.WRITE_RESPONSE, bytes)),
        ended: (error) => {
          this.#ended = error ?? new Error("Cannot write to containerd: it ended the stream");
          this.#waiting?.reject(this.#ended);
        },
      },
    );
  }

  send(request: Encodable<typeof messages.WRITE_REQUEST>): Promise<WriteResponse> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) {
        reject(this.#ended);
        return;
      }
      this.#waiting = { resolve, reject };
      this.#stream.send(encode(messages.WRITE_REQUEST, request));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stream.cancel();
  }
}
