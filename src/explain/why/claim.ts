/** A PersistentVolumeClaim that is Pending. */
import { compareQuantities, parseQuantity } from "../../api/machinery/quantity.ts";
import { labelSelectorFromObject } from "../../api/machinery/selectors/label-selector.ts";
import type { Seen, Subject } from "./cluster-view.ts";
import { defineExplainer, found, nameOf, type Explanation, type Manifest, type Remedy } from "./explainer.ts";
import { labelsOf } from "./pod-template.ts";

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
    const volumes = view.list("persistentvolumes").filter(({ spec }) => (spec.storageClassName ?? "") === (className ?? ""));
    // A class without an object is usual for volumes that an administrator created.
    const isStatic = className === "" || (className !== undefined && used === undefined && volumes.length > 0);
    if (isStatic) return noVolume(text, object, className ?? "", volumes);
    if (className !== undefined && used === undefined) {
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

/** Volumes that are named with the reason why they do not match. */
const VOLUMES_SHOWN_MAX = 3;

function noVolume(text: string, claim: Seen, className: string, volumes: readonly Seen[]): Explanation {
  const of = className === "" ? "without a StorageClass" : `of the class ${className}, for which nothing creates volumes`;
  const because = volumes.slice(0, VOLUMES_SHOWN_MAX).map((volume) => ({
    text: `PersistentVolume ${volume.metadata.name} does not match: ${mismatchOf(claim, volume)}`,
  }));
  return found({
    text,
    because: [{ text: `it is bound only to an existing PersistentVolume ${of}, and none matches`, root: "NoMatchingVolume", because }],
  });
}

function mismatchOf({ metadata, spec }: Seen, volume: Seen): string {
  const { claimRef, accessModes = [], capacity = {}, volumeMode = "Filesystem" } = volume.spec;
  const isOthers = claimRef !== undefined && (claimRef.name !== metadata.name || claimRef.namespace !== metadata.namespace);
  if (isOthers) return `it is bound to or reserved for ${claimRef.namespace}/${claimRef.name}`;
  if (claimRef?.uid !== undefined && claimRef.uid !== metadata.uid) return "it was bound to an earlier claim of this name, and is Released";
  const missing = (spec.accessModes ?? []).filter((mode: string) => !accessModes.includes(mode));
  if (missing.length > 0) return `it does not offer ${missing.join(", ")}`;
  const [wanted, offered] = [spec.resources?.requests?.storage ?? "0", capacity.storage ?? "0"];
  if (compareQuantities(parseQuantity(offered), parseQuantity(wanted)) < 0) return `its capacity is ${offered}, less than ${wanted}`;
  if (volumeMode !== (spec.volumeMode ?? "Filesystem")) return `its volumeMode is ${volumeMode}`;
  if (spec.selector !== undefined && !labelSelectorFromObject(spec.selector).matches(labelsOf(volume.metadata.labels)))
    return "its labels do not match the claim's selector";
  return "the reason is not known";
}

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
