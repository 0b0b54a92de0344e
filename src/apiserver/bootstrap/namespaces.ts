/** The system namespaces. kube-public is for objects that everyone may read, including anonymous users. */
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
