/** `k8ts image load`: imports images from a tar archive into the nodes of a local cluster, without a registry. */
import { fileExists, fileSizeBytes, isDirectory, joinPath, readFilePieces, removeFile, writeFileWhole } from "../../host/files/files.ts";
import { standardInput } from "../../host/processes/standard-input.ts";
import { nameProblem } from "../../kubelet/shared/image-reference.ts";
import { NotAnImageError } from "../../kubelet/machine/images/image-contents.ts";
import { wholeImageName } from "../../kubelet/machine/images/image-name.ts";
import { importImage } from "../../kubelet/machine/images/import-image.ts";
import { TarError } from "../../host/archive/tar-reader.ts";
import { defineCommand, type Io } from "../framework/command.ts";
import { findHome, namesOf, type ClusterHome } from "../../cluster/home/cluster-home.ts";
import type { ClusterRecord } from "../../cluster/home/cluster-record.ts";
import { listedNodes } from "../../cluster/nodes/list-nodes.ts";
import { findRunningProcess } from "../../cluster/home/find-running-process.ts";
import { chooseHome, homeFlags, type HomeChoice } from "../../cluster/home/home-flags.ts";

interface Options {
  readonly home: HomeChoice;
  /** "-": standard input. */
  readonly file: string;
  readonly imageName?: string;
  /** Absent: all nodes. */
  readonly node?: string;
}

/** Interval of progress lines. */
const PROGRESS_EVERY_MS = 2_000;
const MEBIBYTE = 1024 * 1024;

export const imageLoad = defineCommand({
  description:
    "Load container images into the nodes of a local cluster, so that Pods use them without a registry. " +
    "The archive is an OCI layout or a Docker archive, as `docker save`, `podman save`, `skopeo` and `buildah` write it, optionally gzip-compressed. " +
    "The kubelet does not pull a loaded image if imagePullPolicy is IfNotPresent, the default for every tag except latest.",
  flags: {
    ...homeFlags,
    "image-name": {
      type: "string",
      placeholder: "IMAGE",
      doc: "Name of the image in the cluster; a digest in it must match the image. Default: the name in the archive.",
      expects: imageNameExpected,
    },
    node: { type: "string", placeholder: "NAME", doc: "Node of this machine to load into. Default: all." },
  },
  arguments: { file: { doc: "Path of the tar archive; - reads from standard input." } },
  examples: [
    "docker save my-app:1 | k8ts image load -",
    "k8ts image load my-app.tar",
    "k8ts image load app.tar.gz --name second --image-name app:2",
  ],
  options(values, environment) {
    const home = chooseHome(values, environment);
    if (!home.ok) return home;
    const { "image-name": imageName, node, file } = values;
    const chosen = { ...(imageName === undefined ? {} : { imageName }), ...(node === undefined ? {} : { node }) };
    return { ok: true, options: { home: home.options, file, ...chosen } };
  },
  run: loadImage,
});

async function loadImage({ home: choice, file, imageName, node }: Options, io: Io): Promise<void> {
  const home = await runningHome(choice, io);
  const targets = await targetsOf(home, node);
  // Read once per node: what comes from standard input is kept meanwhile.
  await using spooled = file === "-" && targets.length > 1 ? await spool(home, io) : undefined;
  const path = spooled?.path ?? file;
  for (const { endpoint, name } of targets) {
    const tar = path === "-" ? standardInput() : await openFile(path);
    const progress = reporter(io, path === "-" ? undefined : await fileSizeBytes(path));
    try {
      const named = imageName === undefined ? {} : { name: imageName };
      const images = await importImage({ endpoint, tar, onProgress: progress, clock: io.clock, ...named });
      for (const image of images) io.out(`Loaded ${image.name} (${image.id})${targets.length > 1 ? ` into node ${name}` : ""}`);
    } catch (error) {
      if (!(error instanceof TarError) && !(error instanceof NotAnImageError) && !isGzipError(error)) throw error;
      const source = file === "-" ? "standard input" : `"${file}"`;
      const why = isGzipError(error)
        ? `the gzip stream is truncated or corrupt (${error.message}); save or copy the archive again`
        : error.message;
      throw new Error(`Cannot load ${source}: ${why}`, { cause: error });
    }
  }
}

interface Spooled extends AsyncDisposable {
  readonly path: string;
}

async function spool({ home }: RunningHome, { clock }: Io): Promise<Spooled> {
  const path = joinPath(home.runDirectory, "image-load.tar");
  await clock.external(writeFileWhole(path, inputPieces()));
  return { path, [Symbol.asyncDispose]: () => removeFile(path) };
}

async function* inputPieces(): AsyncGenerator<Uint8Array, void> {
  yield* standardInput();
}

/** As `expects` of a flag. */
function imageNameExpected(name: string): string | undefined {
  return nameProblem(wholeImageName(name)) === undefined ? undefined : "an image reference such as registry.example/app:1";
}

async function openFile(file: string): Promise<AsyncIterable<Uint8Array>> {
  if (!(await fileExists(file))) throw new Error(`Cannot load "${file}": the file does not exist or is not readable by this user`);
  if (await isDirectory(file))
    throw new Error(
      `Cannot load "${file}": it is a directory; give the archive itself, or create one: tar -c -C "${file}" . | k8ts image load -`,
    );
  return readFilePieces(file);
}

function isGzipError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("Z_");
}

interface RunningHome {
  readonly home: ClusterHome;
  readonly record: ClusterRecord;
}

async function runningHome(choice: HomeChoice, { environment }: Io): Promise<RunningHome> {
  const home = await findHome(choice, environment);
  const seen = home === undefined ? undefined : await findRunningProcess(home);
  if (home === undefined || seen?.process === undefined) {
    const { name, commandArguments } = home ?? namesOf(choice, environment);
    throw new Error(`Cannot load an image: cluster "${name}" is not running; start it with "k8ts up${commandArguments}"`);
  }
  const { record } = seen;
  if (record === undefined)
    throw new Error(
      `Cannot load an image: ${home.record} is corrupt; stop the cluster with "k8ts down${home.commandArguments}" and start it again`,
    );
  return { home, record };
}

interface Target {
  readonly name: string;
  readonly endpoint: string;
}

/** The container runtimes of the cluster's nodes on this machine. */
async function targetsOf({ home, record }: RunningHome, node: string | undefined): Promise<readonly Target[]> {
  const { name: first = "", runtimeEndpoint } = record.node ?? {};
  if (runtimeEndpoint === undefined)
    throw new Error(`Cannot load an image into cluster "${home.name}": its nodes are simulated and have no image store`);
  const further = (await listedNodes(home)).flatMap(({ name, runtimeEndpoint: endpoint }) =>
    endpoint === undefined ? [] : [{ name, endpoint }],
  );
  const all = [{ name: first, endpoint: runtimeEndpoint }, ...further];
  const chosen = all.filter(({ name }) => node === undefined || name === node);
  if (chosen.length === 0)
    throw new Error(`Cannot load an image into node ${node}: it must be one of ${all.map(({ name }) => name).join(", ")}`);
  return chosen;
}

function reporter({ note, clock }: Io, totalBytes: number | undefined): (bytes: number) => void {
  let reportedAtMs = clock.monotonic();
  const total = totalBytes === undefined ? "" : ` of ${inMebibytes(totalBytes)}`;
  return (bytes) => {
    if (clock.monotonic() - reportedAtMs < PROGRESS_EVERY_MS) return;
    reportedAtMs = clock.monotonic();
    note(`${inMebibytes(bytes)}${total} MiB`);
  };
}

function inMebibytes(bytes: number): string {
  return (bytes / MEBIBYTE).toFixed(1);
}
