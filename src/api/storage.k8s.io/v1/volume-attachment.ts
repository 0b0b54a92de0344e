/**
 * storage.k8s.io/v1 VolumeAttachment: attaches a volume to a node. The attach controller creates it, the volume's driver executes it and
 * writes the status. Deleting it detaches the volume, so its spec is immutable.
 */
import { deepEqual } from "../../../base/deep.ts";
import { changed, withChanges, withMetadataOf } from "../../changes.ts";
import { defaultInlineVolumeSpec } from "../../core/v1/persistent-volume/defaults.ts";
import { validateInlineVolumeSpec } from "../../core/v1/persistent-volume/validate-spec.ts";
import { dnsSubdomain } from "../../core/v1/pod/validation/checks.ts";
import { validateDriverName } from "../../core/v1/pod/validation/storage-sources.ts";
import type {
  VolumeAttachment,
  VolumeAttachmentSource,
  VolumeAttachmentSpec,
  VolumeAttachmentStatus,
  VolumeError,
} from "../../generated/storage.k8s.io/v1.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { forbidden, immutable, invalid, required, tooLong, type FieldError } from "../../machinery/field-error.ts";
import { errorsOf } from "../../machinery/findings.ts";
import { byteLength, isLongerThan, rangeMessage } from "../../machinery/names.ts";
import { defineResource } from "../../machinery/resource.ts";

const METADATA_SIZE_MAX_BYTES = 256 * 1024;
const MESSAGE_LENGTH_MAX_BYTES = 1024;
const INT32_MAX = 2 ** 31 - 1;

export const volumeAttachments = defineResource<VolumeAttachment>({
  kind: "VolumeAttachment",
  plural: "volumeattachments",
  singular: "volumeattachment",
  scope: "Cluster",
  served: [{ group: "storage.k8s.io", version: "v1", schema: "io.k8s.api.storage.v1.VolumeAttachment", defaults: defaultAttachment }],
  unconditionalUpdate: false,
  returnsDeletedObject: true,

  prepareForCreate: (attachment) => ({ ...attachment, status: { attached: false } }),
  prepareForUpdate: (next, previous) => withChanges(next, { status: previous.status }),

  validate: validateAttachment,
  validateUpdate: validateSameSpec,

  subresources: {
    status: {
      of: "object",
      verbs: ["get", "patch", "update"],
      ignoredFields: [["metadata"], ["spec"]],
      prepareForUpdate: (next, previous) => withChanges(withMetadataOf(next, previous), { spec: previous.spec }),
      validateUpdate: validateAttachment,
    },
  },

  columns: [
    nameColumn,
    { ...textColumn("Attacher", "CSI driver that attaches the volume", ({ spec }) => spec.attacher), format: "name" },
    textColumn("PV", "PersistentVolume", ({ spec }) => spec.source.persistentVolumeName ?? ""),
    textColumn("Node", "Node that the volume is attached to", ({ spec }) => spec.nodeName),
    textColumn("Attached", "Whether the volume is attached", ({ status }) => status?.attached ?? false, { type: "boolean" }),
    ageColumn,
  ],
});

function defaultAttachment(attachment: VolumeAttachment): VolumeAttachment {
  const { spec } = attachment;
  const inlineVolumeSpec = changed(spec.source.inlineVolumeSpec, defaultInlineVolumeSpec);
  return withChanges(attachment, { spec: withChanges(spec, { source: withChanges(spec.source, { inlineVolumeSpec }) }) });
}

function* validateAttachment({ spec, status }: VolumeAttachment): Iterable<FieldError> {
  const { attacher, source, nodeName } = spec;
  yield* errorsOf((errors) => validateDriverName(errors, attacher, "spec.attacher"));
  yield* validateSource(source, "spec.source");
  yield* dnsSubdomain(nodeName, "spec.nodeName");
  yield* validateStatus(status ?? { attached: false }, "status");
  if (source.persistentVolumeName !== undefined) yield* dnsSubdomain(source.persistentVolumeName, "spec.source.persistentVolumeName");
}

function* validateSource({ persistentVolumeName, inlineVolumeSpec }: VolumeAttachmentSource, at: string): Iterable<FieldError> {
  const why = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  if (inlineVolumeSpec === undefined && persistentVolumeName === undefined) yield required(at, why);
  else if (inlineVolumeSpec !== undefined && persistentVolumeName !== undefined) yield forbidden(at, why);
  else if (inlineVolumeSpec !== undefined) yield* validateInlineVolumeSpec(inlineVolumeSpec, `${at}.inlineVolumeSpec`);
  else if (persistentVolumeName === "") yield required(`${at}.persistentVolumeName`, "must specify non empty persistentVolumeName");
}

function* validateStatus({ attachmentMetadata = {}, attachError, detachError }: VolumeAttachmentStatus, at: string): Iterable<FieldError> {
  const sizeBytes = Object.entries(attachmentMetadata).reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0);
  if (sizeBytes > METADATA_SIZE_MAX_BYTES) yield tooLong(`${at}.attachmentMetadata`, METADATA_SIZE_MAX_BYTES);
  yield* validateVolumeError(attachError, `${at}.attachError`);
  yield* validateVolumeError(detachError, `${at}.detachError`);
}

function* validateVolumeError({ message = "", errorCode = 0 }: VolumeError = {}, at: string): Iterable<FieldError> {
  // Upstream's message names another number than it checks.
  if (isLongerThan(message, MESSAGE_LENGTH_MAX_BYTES)) yield tooLong(`${at}.message`, METADATA_SIZE_MAX_BYTES);
  if (errorCode < 0) yield invalid(`${at}.errorCode`, errorCode, rangeMessage(0, INT32_MAX));
}

function* validateSameSpec({ spec }: VolumeAttachment, previous: VolumeAttachment): Iterable<FieldError> {
  if (!deepEqual(spec, previous.spec)) yield immutable("spec", shown(spec));
}

/** In upstream's format: by the names of its internal type. An inline volume keeps its API names. */
function shown({ attacher, source, nodeName }: VolumeAttachmentSpec): unknown {
  const { persistentVolumeName = null, inlineVolumeSpec = null } = source;
  return {
    Attacher: attacher,
    Source: { PersistentVolumeName: persistentVolumeName, InlineVolumeSpec: inlineVolumeSpec },
    NodeName: nodeName,
  };
}
