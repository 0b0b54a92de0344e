/**
 * Whose network a container runtime has that k8ts did not start. Such a runtime has one, of the first file in its directory; k8ts puts its
 * own there if nobody else has, and a file of k8ts's that is found later, after whatever end its cluster had, is never taken for the
 * machine's. Files of k8ts are known by their names, which are the network's, and by what is in them.
 * Not here: what a network of ours consists of (bridge-network.ts), and which clusters there still are.
 */
import type { JsonObject } from "../../../api/machinery/object.ts";
import { joinPath, readWhole } from "../../../host/files/files.ts";
import { namesIn } from "../../../host/files/shared-directory.ts";
import { isBridgeName } from "./bridge-network.ts";
import { cniFileName, type PodNetwork } from "./cni-configuration.ts";

export type OwnedNetwork = Pick<PodNetwork, "bridge" | "addressDirectory">;

export interface FoundConfiguration {
  readonly name: string;
  /** Absent: k8ts has not made it. */
  readonly network?: OwnedNetwork;
}

/** What runtimes take for a configuration. */
const CONFIGURATION = /\.(conf|conflist|json)$/;

/** In the order in which runtimes look at them. A directory that is not there has none. */
export async function configurationsIn(directory: string): Promise<readonly FoundConfiguration[]> {
  const names = (await namesIn(directory)).filter((name) => CONFIGURATION.test(name)).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const text = await readWhole(joinPath(directory, name)).then(
        (bytes) => new TextDecoder().decode(bytes),
        () => "", // Gone meanwhile.
      );
      const network = ownedNetwork(name, text);
      return { name, ...(network === undefined ? {} : { network }) };
    }),
  );
}

/** The network of a cluster of k8ts, this one or another; undefined if the file is somebody else's. */
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
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}

export interface NetworkQuestion {
  /** This cluster's. */
  readonly bridge: string;
  /** What the runtime says of itself. */
  readonly isReady: boolean;
  /** Bridges of the other clusters that there are. */
  readonly others: readonly string[];
}

export interface NetworkChoice {
  readonly use: "the machine's" | "this cluster's" | "another cluster's";
  /** The other cluster's. */
  readonly another?: OwnedNetwork;
  /** Of clusters that are gone: nobody will come for them. */
  readonly abandoned: readonly OwnedNetwork[];
}

/**
 * Another cluster's network is not shared: its addresses are in that cluster's directory, and it goes when that cluster stops, with Pods on
 * it or not.
 */
export function chooseNetwork(found: readonly FoundConfiguration[], { bridge, isReady, others }: NetworkQuestion): NetworkChoice {
  const isAbandoned = ({ network }: FoundConfiguration) =>
    network !== undefined && network.bridge !== bridge && !others.includes(network.bridge);
  const abandoned = found.filter(isAbandoned).flatMap(({ network }) => network ?? []);
  const rest = found.filter((one) => !isAbandoned(one));
  const another = rest.find(({ network }) => network !== undefined && network.bridge !== bridge)?.network;
  if (another !== undefined) return { use: "another cluster's", another, abandoned };
  const [first] = rest;
  // Whose directory cannot be seen from here, since it runs in a container of its own, is ready without any.
  const isMachines = isReady && (first === undefined ? abandoned.length === 0 : first.network === undefined);
  return { use: isMachines ? "the machine's" : "this cluster's", abandoned };
}
