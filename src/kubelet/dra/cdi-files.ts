/** Reads the specifications of CDI devices. Drivers create and remove them at any time, so that nothing is cached. */
import { parseYaml } from "../../api/machinery/codec/yaml/yaml.ts";
import type { Logger } from "../../base/logger.ts";
import { fileSizeBytes, joinPath, namesIn, readWhole } from "../../host/files/files.ts";
import type { ContainerRun } from "../contracts/container-run.ts";
import { withCdiEdits, type CdiSpecification } from "./cdi-edits.ts";

/** Those of the CDI; the second has precedence. */
const DIRECTORIES = ["/etc/cdi", "/var/run/cdi"];
/** Larger files are a mistake, or an attempt to exhaust memory: a machine has hundreds of devices at most. */
const FILE_BYTES_MAX = 4 * 1024 * 1024;
/** Maximum files per directory: a driver writes one per claim, and a node has a few hundred Pods. */
const FILES_MAX = 10_000;

export interface CdiResolverOptions {
  /** "containerd://1.6.20" */
  readonly runtimeVersion: string;
  readonly log: Logger;
  /** Default: those of the CDI. */
  readonly directories?: readonly string[];
}

/** Adds CDI devices to a container: by name if the runtime resolves them, otherwise resolved. */
export function cdiResolver({ runtimeVersion, log, directories = DIRECTORIES }: CdiResolverOptions) {
  const isByName = resolvesNames(runtimeVersion);
  return async (names: readonly string[], run: ContainerRun): Promise<ContainerRun> => {
    if (isByName) return { ...run, cdiDevices: names };
    const files = await Promise.all(directories.map((directory) => specificationsIn(directory, log)));
    return withCdiEdits(names, files.flat(), run);
  };
}

/** containerd enables the CDI by default from 2.0 on, CRI-O from the beginning. */
export function resolvesNames(runtimeVersion: string): boolean {
  const [, name = "", major = "0"] = /^(\S+):\/\/v?(\d+)/.exec(runtimeVersion) ?? [];
  return name !== "containerd" || Number(major) >= 2;
}

async function specificationsIn(directory: string, log: Logger): Promise<readonly CdiSpecification[]> {
  const names = (await namesIn(directory)).filter((name) => /\.(json|yaml)$/.test(name));
  const specifications: CdiSpecification[] = [];
  for (const name of names.slice(0, FILES_MAX)) {
    const path = joinPath(directory, name);
    try {
      const size = await fileSizeBytes(path);
      if (size > FILE_BYTES_MAX) throw new Error(`it has ${size} bytes, and may have ${FILE_BYTES_MAX}`);
      const { value } = parseYaml(await readWhole(path));
      if (!isSpecification(value)) throw new Error("it has no kind");
      specifications.push(value);
    } catch (error) {
      log.warn("A CDI specification cannot be read and is ignored", { path, error });
    }
  }
  return specifications;
}

/** Vendors may add members; those that are used are checked when a container is edited. */
function isSpecification(value: unknown): value is CdiSpecification {
  return typeof value === "object" && value !== null && "kind" in value && typeof value.kind === "string";
}
