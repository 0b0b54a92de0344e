/** Storage of simulated nodes: volumes exist as PersistentVolumes only, since simulated Pods write no files. */
import type { LocalVolumes } from "./local-volumes.ts";

/** Where the files of a node that runs containers would be. Never created. */
const DIRECTORY = "/var/lib/k8ts/volumes";

export const simulatedVolumes: LocalVolumes = {
  unconfirmed: new Set(),
  path: (name, storage) => `${DIRECTORY}/${storage === "image" ? "devices" : "directories"}/${name}`,
  create: () => Promise.resolve(),
  confirm: () => Promise.resolve(),
  attach: () => Promise.resolve(),
  grow: () => Promise.resolve(),
  delete: () => Promise.resolve(),
};
