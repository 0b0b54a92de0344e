/**
 * Imports images from a tar into containerd by its own services on the runtime's socket: no other program is needed, and layers are
 * streamed. Existing blobs are not sent. Layers are unpacked here, once: otherwise every container of the image that starts before the
 * first one runs would unpack all of them by itself. Resolves when the CRI knows the images, so that the kubelet can use them. An aborted import leaves
 * only unreferenced blobs, which containerd garbage-collects: names are set only after everything was verified.
 */
import type { Clock } from "../../../base/clock.ts";
import { decode, encode } from "../../../base/protobuf/messages.ts";
import { gunzip, unpackedSha256 } from "../../../host/files/gunzip.ts";
import { GrpcError, openGrpcChannel, type GrpcChannel } from "../../../host/grpc/channel.ts";
import { sha256 } from "../../../host/crypto/hash.ts";
import { machineFacts } from "../../../host/kernel/machine-facts.ts";
import { uniqueName } from "../../../host/unique-name.ts";
import { nameProblem } from "../../shared/image-reference.ts";
import { socketOf } from "../containerd/runtime-version.ts";
import { lookAt } from "./compression.ts";
import { CRI_IMAGES, IMAGE_STATUS_REQUEST, IMAGE_STATUS_RESPONSE } from "./containerd-messages.ts";
import { ContentStore, type Descriptor } from "./content-store.ts";
import { imagesIn, NotAnImageError, type BlobFacts, type FoundImage, type TarContents } from "./image-contents.ts";
import { digestProblem, wholeImageName, type ImageDigests } from "./image-name.ts";
import { digestOf, hexOf, OCI_MANIFEST } from "./oci-image.ts";
import { unpackLayers } from "./unpack-layers.ts";
import { readTar, TarError, type TarPart } from "../../../host/archive/tar-reader.ts";
import { joined } from "../../../host/archive/tar-writer.ts";

export interface ImportOptions {
  readonly endpoint: string;
  /** The archive, gzipped or not, in chunks of any size. */
  readonly tar: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Image name; required if the tar has none, and allowed only if it holds one image. */
  readonly name?: string;
  /** Reports the bytes sent to the runtime so far. */
  readonly onProgress?: (bytes: number) => void;
  readonly clock: Clock;
}

export interface ImportedImage {
  /** Full name: "docker.io/library/busybox:1". */
  readonly name: string;
  /** As in the CRI: "sha256:…". */
  readonly id: string;
}

/** Limit of JSON documents, which are kept in memory; layers are not. */
const DOCUMENT_BYTES_MAX = 1024 * 1024;
const DOCUMENTS_BYTES_MAX = 64 * 1024 * 1024;
/** Timeout for the CRI to learn of new images by an event within containerd. */
const KNOWN_WITHIN_MS = 30_000;
/** Poll interval: there is no event when the CRI has learned of it. */
const ASK_AGAIN_MS = 5;
const CALL_TIMEOUT_MS = 10_000;

export async function importImage(options: ImportOptions): Promise<readonly ImportedImage[]> {
  const { clock, endpoint, name } = options;
  if (name !== undefined) checkName(wholeImageName(name), `Cannot call the image "${name}"`);
  const channel = await openGrpcChannel({ host: socketOf(endpoint), port: 0, clock });
  try {
    const store = await openStore(channel, options);
    try {
      const images = await importInto(store, options);
      for (const image of images) await untilKnown(channel, image, clock);
      return images;
    } finally {
      await store.close();
    }
  } finally {
    channel.close();
  }
}

async function openStore(channel: GrpcChannel, { clock, endpoint }: ImportOptions): Promise<ContentStore> {
  try {
    return await ContentStore.open(channel, { clock, lease: uniqueName("k8ts-import-") });
  } catch (error) {
    if (!(error instanceof GrpcError) || error.code !== "UNIMPLEMENTED") throw error;
    throw new Error(
      `Cannot put an image into the runtime at ${endpoint}: it is not containerd; use its own tools, such as docker load or podman load`,
      { cause: error },
    );
  }
}

async function importInto(store: ContentStore, options: ImportOptions): Promise<readonly ImportedImage[]> {
  const contents = await takeIn(store, options);
  const images = imagesIn(contents, { architecture: machineFacts().architecture });
  const named: NamedImage[] = [];
  for (const image of images) {
    const names = namesFor(image, images.length, options.name);
    const target = await manifestOf(image, store);
    for (const name of names) checkDigest(name, { own: target.digest, list: image.listDigest });
    named.push({ image, names, target });
  }
  const imported: ImportedImage[] = [];
  for (const { image, names, target } of named) {
    const layers = image.layers.map(({ digest }, index) => [`content.l.${index}`, digest] as const);
    await store.refer(target.digest, { "content.config": image.config, ...Object.fromEntries(layers) });
    await unpackLayers(store, image);
    for (const name of names) {
      await store.name(name, target);
      imported.push({ name, id: image.config });
    }
  }
  return imported;
}

interface NamedImage {
  readonly image: FoundImage;
  readonly names: readonly string[];
  readonly target: Descriptor;
}

/** A name with a digest must match the image: a wrong one would be reported as that of the running image. */
function checkDigest(name: string, digests: ImageDigests): void {
  const problem = digestProblem(name, digests);
  if (problem !== undefined) throw new NotAnImageError(problem);
}

function namesFor({ names }: FoundImage, images: number, given: string | undefined): readonly string[] {
  if (given === undefined && names.length > 0) {
    for (const name of names) checkName(name, `Cannot import the image: the tar calls it "${name}"`);
    return names;
  }
  if (given !== undefined && images === 1) return [wholeImageName(given)];
  if (given !== undefined) throw new NotAnImageError(`Cannot call the image "${given}": the tar holds ${images} images`);
  throw new NotAnImageError("Cannot import the image: the tar contains no name for it; give it a name with --image-name");
}

/** The CRI would never list an image with an invalid name. */
function checkName(name: string, what: string): void {
  const problem = nameProblem(name);
  if (problem !== undefined)
    throw new NotAnImageError(`${what}, which is not a valid image name (${problem}); give another with --image-name`);
}

async function manifestOf({ manifest }: FoundImage, store: ContentStore): Promise<Descriptor> {
  if (manifest.is === "present") return manifest.target;
  const bytes = new TextEncoder().encode(manifest.text);
  const digest = digestOf(bytes);
  await store.write(asyncOf([bytes]), { ref: uniqueName("k8ts-manifest-"), sizeBytes: bytes.length, expected: digest });
  return { mediaType: OCI_MANIFEST, digest, size: bytes.length };
}

/** Reads the whole tar and sends every file to the runtime, since its use is known only at the end. */
async function takeIn(store: ContentStore, options: ImportOptions): Promise<TarContents> {
  const documents = new Map<string, Uint8Array>();
  const blobs = new Map<string, BlobFacts>();
  const links = new Map<string, string>();
  let [takenBytes, keptBytes] = [0, 0];
  const onWritten = (bytes: number) => options.onProgress?.((takenBytes += bytes));
  for await (const part of readTar(await unpacked(asyncOf(options.tar)))) {
    if (part.is === "link") links.set(part.path, linkTarget(part));
    if (part.is !== "file") continue;
    const isDocument = part.sizeBytes <= DOCUMENT_BYTES_MAX && keptBytes + part.sizeBytes <= DOCUMENTS_BYTES_MAX;
    const kept: Uint8Array[] = [];
    blobs.set(
      part.path,
      await takePart(store, part, { onWritten, ...(isDocument ? { keep: (piece: Uint8Array) => kept.push(piece.slice()) } : {}) }),
    );
    if (!isDocument) continue;
    keptBytes += part.sizeBytes;
    documents.set(part.path, joined(kept));
  }
  const followed = (path: string) => links.get(path) ?? path;
  return {
    text: (path) => textOf(documents.get(followed(path))),
    blob: (path) => blobs.get(followed(path)),
  };
}

function textOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}

interface Taking {
  readonly onWritten: (bytes: number) => void;
  readonly keep?: (piece: Uint8Array) => void;
}

async function takePart(store: ContentStore, part: TarPart, { onWritten, keep }: Taking): Promise<BlobFacts> {
  const { compression, pieces } = await lookAt(part.content());
  const hash = sha256();
  const unpackedHash = compression === "gzip" ? unpackedSha256() : undefined;
  async function* looking(): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      hash.update(piece);
      await unpackedHash?.update(piece);
      keep?.(piece);
      yield piece;
    }
  }
  const [, named] = /^blobs\/sha256\/([0-9a-f]{64})$/.exec(part.path) ?? [];
  const expected = named === undefined ? {} : { expected: `sha256:${named}` };
  const content = looking();
  await store.write(content, { ref: uniqueName("k8ts-blob-"), sizeBytes: part.sizeBytes, onWritten, ...expected });
  for await (const piece of content) onWritten(piece.length); // An existing blob was not read, but documents are needed.
  const digest = `sha256:${hexOf(hash.digest())}`;
  const unpacked = compression === undefined ? digest : digestText(await unpackedHash?.digest());
  return { digest, size: part.sizeBytes, compression, unpacked };
}

function digestText(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : `sha256:${hexOf(bytes)}`;
}

/** In older `docker save` archives a layer that two images share is a link, relative to its own path. */
function linkTarget({ path, target }: TarPart): string {
  const words = [...path.split("/").slice(0, -1), ...target.split("/")];
  return words.reduce<string[]>((kept, word) => (word === ".." ? kept.slice(0, -1) : word === "." ? kept : [...kept, word]), []).join("/");
}

async function unpacked(tar: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const { compression, pieces } = await lookAt(tar);
  if (compression === undefined) return pieces;
  if (compression === "gzip") return gunzip(pieces);
  throw new TarError(
    `Cannot read the tar: it is packed with ${compression}, which is not supported, only gzip is; unpack it on the way: ` +
      `${compression} -dc FILE | k8ts image load -`,
  );
}

async function untilKnown(channel: GrpcChannel, { name, id }: ImportedImage, clock: Clock): Promise<void> {
  const until = clock.monotonic() + KNOWN_WITHIN_MS;
  while ((await criImageId(channel, name)) !== id) {
    if (clock.monotonic() >= until)
      throw new Error(`Cannot use the image ${name}: the CRI does not know it ${KNOWN_WITHIN_MS} ms after it was imported`);
    await clock.sleep(ASK_AGAIN_MS);
  }
}

/** Undefined if the CRI has no image of that name. */
export async function criImageId(channel: GrpcChannel, name: string): Promise<string | undefined> {
  const request = encode(IMAGE_STATUS_REQUEST, { image: { image: name } });
  const answer = await channel.call(`${CRI_IMAGES}/ImageStatus`, request, { timeoutMs: CALL_TIMEOUT_MS });
  return decode(IMAGE_STATUS_RESPONSE, answer).image?.id;
}

async function* asyncOf(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* pieces;
}
