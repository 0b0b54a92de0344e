/** The namespaces that every cluster has. kube-public is meant to be read by everybody, also by who shows nothing. */
import type { BootstrapStep } from "./bootstrap.ts";

const NAMES = ["default", "kube-node-lease", "kube-public", "kube-system"];

export const namespaces: BootstrapStep = async ({ requests }) => {
  const place = { group: "", version: "v1", plural: "namespaces", namespace: "" };
  for (const name of NAMES) await requests.make(place, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
};
