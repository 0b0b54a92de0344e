/** JSON bytes of objects in responses: the stored bytes if they are in the requested version, otherwise encoded once. */
import type { Endpoint } from "../framework/endpoints.ts";
import type { ObjectList } from "../framework/outcome.ts";
import type { StoredObject } from "../framework/storage/storage.ts";

const encoder = new TextEncoder();
const NEWLINE = encoder.encode("\n");

/** Versions other than the stored one, as long as the object lives. */
const converted = new WeakMap<StoredObject, Map<string, Uint8Array>>();

/** Everything after the head (ObjectFormat.headAt). */
function tailOf({ served, format }: Endpoint, object: StoredObject): Uint8Array {
  if (object.isStoredIn(served)) return object.bytes().subarray(format.headLength);
  const known = converted.get(object)?.get(format.apiVersion);
  if (known !== undefined) return known;
  const tail = format.write(object.in(served), object.managed().text()).subarray(format.headLength);
  const versions = converted.get(object) ?? new Map<string, Uint8Array>();
  converted.set(object, versions.set(format.apiVersion, tail));
  return tail;
}

/** One object, as a few pieces of which the large one is shared. */
export function objectPieces(endpoint: Endpoint, object: StoredObject): readonly Uint8Array[] {
  return [encoder.encode(endpoint.format.headAt(object.revision)), tailOf(endpoint, object), NEWLINE];
}

/** A watch event, in one piece that all watchers of this version share. */
export function eventBytes(endpoint: Endpoint, type: string, object: StoredObject): Uint8Array {
  return joined(`{"type":"${type}","object":${endpoint.format.headAt(object.revision)}`, tailOf(endpoint, object), "}\n");
}

function joined(before: string, middle: Uint8Array, after: string): Uint8Array {
  const bytes = new Uint8Array(before.length + middle.length + after.length);
  encoder.encodeInto(before, bytes);
  bytes.set(middle, before.length);
  encoder.encodeInto(after, bytes.subarray(before.length + middle.length));
  return bytes;
}

/**
 * A list: a concatenation of existing bytes; nothing is parsed or encoded again, and large objects are not copied. Items of custom
 * resources have kind and apiVersion, as upstream.
 */
export function listPieces(endpoint: Endpoint, list: ObjectList): readonly Uint8Array[] {
  const { format, listKind, resource } = endpoint;
  const metadata = JSON.stringify(objectListMeta(endpoint, list));
  const headAt =
    resource.isTyped === false ? (revision: number) => format.headAt(revision) : (revision: number) => format.itemHeadAt(revision);
  const pieces = new Pieces();
  pieces.text(`{"kind":"${listKind}","apiVersion":"${format.apiVersion}","metadata":${metadata},"items":[`);
  list.objects.forEach((object, index) => {
    pieces.text(index > 0 ? `,${headAt(object.revision)}` : headAt(object.revision));
    pieces.bytes(tailOf(endpoint, object));
  });
  pieces.text("]}\n");
  return pieces.finish();
}

/** Metadata of a list of whole objects. That of custom resources always has a continue token, as upstream. */
export function objectListMeta({ resource }: Endpoint, list: ObjectList) {
  return { ...(resource.isTyped === false ? { continue: "" } : {}), ...listMetaOf(list) };
}

export function listMetaOf({ revision, continue: token, remainingItemCount }: ObjectList) {
  return {
    resourceVersion: String(revision),
    ...(token === undefined ? {} : { continue: token }),
    ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
  };
}

/**
 * Objects of at least this size are not copied: a list has views of the stored bytes, and the HTTP server copies a block of them when the
 * client has read the block before. 10,000 Pods as one copy are 50 MB that are allocated, zeroed and collected per request. Below this size
 * the view itself is as large as the copy.
 */
const SHARED_BYTES_MIN = 256;

/** Size of the buffers for what is between the shared bytes. */
const BUFFER_BYTES = 16 * 1024;

/** Collects bytes in as few pieces as possible, with large ones as they are between them. Texts must be ASCII. */
class Pieces {
  readonly #done: Uint8Array[] = [];
  #current = new Uint8Array(BUFFER_BYTES);
  /** Start of the piece that is being collected. */
  #start = 0;
  #length = 0;

  /** Hot path (called per object): for so few bytes a loop is faster than an encoder, which needs a view. */
  text(text: string): void {
    this.#makeRoom(text.length);
    const current = this.#current;
    const at = this.#length;
    for (let index = 0; index < text.length; index++) current[at + index] = text.charCodeAt(index);
    this.#length = at + text.length;
  }

  bytes(bytes: Uint8Array): void {
    if (bytes.length >= SHARED_BYTES_MIN) {
      this.#endPiece();
      this.#done.push(bytes);
      return;
    }
    this.#makeRoom(bytes.length);
    this.#current.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  finish(): readonly Uint8Array[] {
    this.#endPiece();
    return this.#done;
  }

  #endPiece(): void {
    if (this.#length > this.#start) this.#done.push(this.#current.subarray(this.#start, this.#length));
    this.#start = this.#length;
  }

  #makeRoom(bytes: number): void {
    if (this.#length + bytes <= this.#current.length) return;
    this.#endPiece();
    this.#current = new Uint8Array(Math.max(BUFFER_BYTES, bytes));
    this.#start = 0;
    this.#length = 0;
  }
}
