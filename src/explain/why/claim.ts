/** A PersistentVolumeClaim that is Pending. */
import type { Seen, Subject } from "./cluster-view.ts";
import { defineExplainer, found, nameOf, type Remedy, type Manifest } from "./explainer.ts";

const IS_DEFAULT = "storageclass.kubernetes.io/is-default-class";

export const claim = defineExplainer({
  resources: ["persistentvolumeclaims"],
  explain(object, subject, { view }) {
    if (object.status?.phase === "Bound") return undefined;
    const text = `${nameOf(subject)} is ${object.status?.phase ?? "Pending"}`;
    const className: string | undefined = object.spec.storageClassName;
    const classes = view.list("storageclasses.storage.k8s.io");
    const standard = classes.find(({ metadata }) => metadata.annotations?.[IS_DEFAULT] === "true");
    const event = view.event(object, ["ProvisioningFailed", "FailedBinding", "ExternalProvisioning", "WaitForFirstConsumer"]);
    if (className === undefined && standard === undefined)
      return found({ text, because: [{ text: "it names no StorageClass, and the cluster has no default one", root: "NoDefaultClass" }] });
    const used = classes.find(({ metadata }) => metadata.name === className);
    if (className !== undefined && className !== "" && used === undefined) {
      const names = classes.map(({ metadata }) => metadata.name).join(", ");
      const cause = { text: `StorageClass ${className} does not exist; there are ${names || "none"}`, root: "MissingStorageClass" };
      const remedies = standard === undefined ? [] : [withClass(object, subject, standard.metadata.name)];
      return found({ text, because: [cause] }, remedies);
    }
    if (used?.volumeBindingMode === "WaitForFirstConsumer") {
      const pods = view
        .list("pods", subject.namespace)
        .filter(({ spec }) =>
          (spec.volumes ?? []).some(({ persistentVolumeClaim }: Seen) => persistentVolumeClaim?.claimName === subject.name),
        );
      if (pods.length === 0)
        return found({
          text,
          because: [{ text: `its class ${className} waits for the first Pod that uses it, and none does`, root: "NoConsumer" }],
        });
      // The scheduler chooses a node first, so the Pod's own problem comes before that of the claim.
      if (pods.every(({ spec }) => !spec.nodeName) && event?.reason !== "ProvisioningFailed") return undefined;
    }
    if (className === "")
      return found({
        text,
        because: [
          {
            text: "it is bound only to an existing PersistentVolume (storageClassName is empty), and none matches",
            root: "NoMatchingVolume",
          },
        ],
      });
    return found({
      text,
      because: [
        {
          text: event?.message ?? "its provisioner has reported nothing",
          ...(event === undefined ? { isUnknown: true } : { root: String(event.reason) }),
        },
      ],
    });
  },
});

/** The class of a claim cannot be changed: it is created again. It is not bound, so it has no data. */
function withClass(object: Seen, target: Subject, storageClassName: string): Remedy {
  const { name, namespace, labels } = object.metadata;
  const again: Manifest = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace, ...(labels === undefined ? {} : { labels }) },
    spec: { ...object.spec, storageClassName },
  };
  const changes = [
    { type: "patch", target, patch: { metadata: { finalizers: null } } },
    { type: "delete", target, force: true },
    { type: "create", object: again },
  ] as const;
  return { text: `Create the claim again with the default class ${storageClassName}`, changes };
}
