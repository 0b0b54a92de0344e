/**
 * Publishes the CA certificate of the API server as ConfigMap "kube-root-ca.crt" in every namespace, and restores it when it is changed or
 * deleted.
 */
import { configMaps } from "../../api/core/v1/config-map.ts";
import { namespaces } from "../../api/core/v1/namespace.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { deepEqual } from "../../base/deep.ts";
import { defineController, onChange, watch, type Controller } from "../runtime/controller.ts";
import { isNamespaceTerminating } from "../runtime/errors.ts";
import { itself } from "../runtime/keys.ts";

const NAME = "kube-root-ca.crt";
const DESCRIPTION = "kubernetes.io/description";
/** Upstream's description annotation. */
const WHAT_IT_IS =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or " +
  "kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

export interface RootCaSettings {
  /** Certificates in PEM. */
  readonly rootCa: string;
}

/** Keys are namespaces. */
export function rootCaCertificatePublisherController({ rootCa }: RootCaSettings): Controller {
  const data = { "ca.crt": rootCa };
  return defineController({
    name: "root-ca-certificate-publisher-controller",
    aliases: ["root-ca-cert-publisher"],
    account: "root-ca-cert-publisher",
    rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create", "update"] }],
    watches: [
      watch(namespaces, itself),
      watch(configMaps, ({ object: { metadata } }) => (metadata.name === NAME ? [{ name: metadata.namespace ?? "" }] : [])),
    ],

    async reconcile({ name: namespace }, { read, write }) {
      if (read.get(namespaces, { name: namespace })?.status?.phase !== "Active") return onChange;
      const found = read.get(configMaps, { namespace, name: NAME });
      if (found === undefined) {
        const metadata = { name: NAME, namespace, annotations: { [DESCRIPTION]: WHAT_IT_IS } };
        try {
          await write.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata, data });
        } catch (error) {
          if (!isReason(error, "AlreadyExists") && !isNamespaceTerminating(error)) throw error;
        }
        return onChange;
      }
      const annotations = { ...found.metadata.annotations, [DESCRIPTION]: WHAT_IT_IS };
      if (deepEqual(found.data, data) && deepEqual(found.metadata.annotations, annotations)) return onChange;
      await write.update(configMaps, { ...found, metadata: { ...found.metadata, annotations }, data });
      return onChange;
    },
  });
}
