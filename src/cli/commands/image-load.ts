/** `k8ts image load`: imports images from a tar archive into the node of a local cluster, without a registry. */
import { fileExists, fileSizeBytes, isDirectory, readFilePieces } from "../../host/files/files.ts";
import { standardInput } from "../../host/processes/standard-input.ts";
import { nameProblem } from "../../kubelet/images/image-reference.ts";
import { NotAnImageError } from "../../kubelet/machine/images/image-contents.ts";
import { wholeImageName } from "../../kubelet/machine/images/image-name.ts";
import { importImage } from "../../kubelet/machine/images/import-image.ts";
import { TarError } from "../../host/archive/tar-reader.ts";
import { defineCommand, type Io } from "../framework/command.ts";
import { findHome, namesOf } from "../../cluster/home/cluster-home.ts";
import { findRunningProcess } from "../../cluster/home/find-running-process.ts";
import { chooseHome, homeFlags, type HomeChoice } from "../../cluster/home/home-flags.ts";

interface Options {
  readonly home: HomeChoice;
  /** "-": standard input. */
  readonly file: string;
  readonly imageName?: string;
}

/** Interval of progress lines. */
const PROGRESS_EVERY_MS = 2_000;
const MEBIBYTE = 1024 * 1024;

export const imageLoad = defineCommand({
  description:
    "Load container images into the node of a local cluster, so that Pods use them without a registry. " +
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
    const imageName = values["image-name"];
    return { ok: true, options: { home: home.options, file: values.file, ...(imageName === undefined ? {} : { imageName }) } };
  },
  run: loadImage,
});

async function loadImage({ home, file, imageName }: Options, io: Io): Promise<void> {
  const endpoint = await endpointOf(home, io);
  const tar = file === "-" ? standardInput() : await openFile(file);
  const progress = reporter(io, file === "-" ? undefined : await fileSizeBytes(file));
  try {
    const images = await importImage({
      endpoint,
      tar,
      onProgress: progress,
      clock: io.clock,
      ...(imageName === undefined ? {} : { name: imageName }),
    });
    for (const { name, id } of images) io.out(`Loaded ${name} (${id})`);
  } catch (error) {
    if (!(error instanceof TarError) && !(error instanceof NotAnImageError) && !isGzipError(error)) throw error;
    const source = file === "-" ? "standard input" : `"${file}"`;
    const why = isGzipError(error)
      ? `the gzip stream is truncated or corrupt (${error.message}); save or copy the archive again`
      : error.message;
    throw new Error(`Cannot load ${source}: ${why}`, { cause: error });
  }
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

async function endpointOf(choice: HomeChoice, { environment }: Io): Promise<string> {
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
  const endpoint = record.node?.runtimeEndpoint;
  if (endpoint === undefined)
    throw new Error(`Cannot load an image into cluster "${home.name}": its nodes are simulated and have no image store`);
  return endpoint;
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
