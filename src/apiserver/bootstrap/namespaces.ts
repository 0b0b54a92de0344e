/** The namespaces that every cluster has. kube-public is meant to be read by everybody, also by who shows nothing. */
import type { BootstrapStep } from "./bootstrap.ts";

const NAMES = ["default", "kube-node-lease", "kube-public", "kube-system"];

const PLACE = { group: "", version: "v1", plural: "namespaces", namespace: "" };

export const namespaces: BootstrapStep = {
  hook: "start-system-namespaces-controller",
  async make({ requests }) {
    for (const name of NAMES) await requests.make(PLACE, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  },
  keeps: NAMES.map((name) => ({ ...PLACE, name })),
};
