/**
 * Determines whose network a container runtime has that k8ts did not start. The runtime uses the first CNI configuration in its directory;
 * k8ts adds its own if there is no other, and a file of k8ts that is found later, after any end of its cluster, is never taken for the
 * machine's. k8ts's files are recognized by name, which is the network's, and by content. Not here: the parts of a k8ts network
 * (bridge-network.ts), and which clusters exist.
 */
import { isObject, type Json, type JsonObject } from "../../../api/machinery/object.ts";
import { joinPath, readWhole } from "../../../host/files/files.ts";
import { namesIn } from "../../../host/files/shared-directory.ts";
import { isBridgeName } from "./bridge-network.ts";
import { cniFileName, type PodNetwork } from "./cni-configuration.ts";

export type OwnedNetwork = Pick<PodNetwork, "bridge" | "addressDirectory">;

export interface FoundConfiguration {
  readonly name: string;
  /** Absent: not created by k8ts. */
  readonly network?: OwnedNetwork;
}

/** File extensions that runtimes accept. */
const CONFIGURATION = /\.(conf|conflist|json)$/;

/** In the order in which runtimes read them. A missing directory has none. */
export async function configurationsIn(directory: string): Promise<readonly FoundConfiguration[]> {
  const names = (await namesIn(directory)).filter((name) => CONFIGURATION.test(name)).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const text = await readWhole(joinPath(directory, name)).then(
        (bytes) => new TextDecoder().decode(bytes),
        () => "", // Removed meanwhile.
      );
      const network = ownedNetwork(name, text);
      return { name, ...(network === undefined ? {} : { network }) };
    }),
  );
}

/** The network of a k8ts cluster, this one or another; undefined for any other file. */
export function ownedNetwork(fileName: string, text: string): OwnedNetwork | undefined {
  const configuration = parsed(text);
  const { name: bridge } = configuration;
  if (typeof bridge !== "string" || !isBridgeName(bridge) || fileName !== cniFileName(bridge)) return undefined;
  const [plugin] = Array.isArray(configuration["plugins"]) ? (configuration["plugins"] as readonly JsonObject[]) : [];
  const addressDirectory = (plugin?.["ipam"] as JsonObject | undefined)?.["dataDir"];
  return plugin?.["bridge"] === bridge && typeof addressDirectory === "string" ? { bridge, addressDirectory } : undefined;
}

function parsed(text: string): JsonObject {
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

export interface NetworkQuestion {
  /** Of this cluster. */
  readonly bridge: string;
  /** As reported by the runtime. */
  readonly isReady: boolean;
  /** Bridges of the other existing clusters. */
  readonly others: readonly string[];
}

export interface NetworkChoice {
  readonly use: "the machine's" | "this cluster's" | "another cluster's";
  /** Of the other cluster. */
  readonly another?: OwnedNetwork;
  /** Of deleted clusters: orphaned. */
  readonly abandoned: readonly OwnedNetwork[];
}

/**
 * Another cluster's network is not shared: its addresses are in that cluster's directory, and it is removed when that cluster stops, even
 * with Pods on it.
 */
export function chooseNetwork(found: readonly FoundConfiguration[], { bridge, isReady, others }: NetworkQuestion): NetworkChoice {
  const isAbandoned = ({ network }: FoundConfiguration) =>
    network !== undefined && network.bridge !== bridge && !others.includes(network.bridge);
  const abandoned = found.filter(isAbandoned).flatMap(({ network }) => network ?? []);
  const rest = found.filter((one) => !isAbandoned(one));
  const another = rest.find(({ network }) => network !== undefined && network.bridge !== bridge)?.network;
  if (another !== undefined) return { use: "another cluster's", another, abandoned };
  const [first] = rest;
  // A runtime whose directory is not visible from here, since it runs in a container, may be ready without any file.
  const isMachines = isReady && (first === undefined ? abandoned.length === 0 : first.network === undefined);
  return { use: isMachines ? "the machine's" : "this cluster's", abandoned };
}
