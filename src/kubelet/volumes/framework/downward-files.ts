/** The files of downwardAPI items: fields and resource amounts of the Pod itself. */
import type { DownwardAPIVolumeFile, Pod } from "../../../api/generated/core/v1.ts";
import type { ResourceList } from "../../../api/core/v1/pod/resource-list.ts";
import { encodeUtf8 } from "../../../base/utf8.ts";
import { fileAmount, fileField } from "../../shared/downward.ts";
import { combineErrors } from "./volume-error.ts";
import type { VolumeFile, VolumeFiles } from "./volume-file.ts";

/** Throws the errors of all items together, as upstream. */
export function downwardFiles(
  items: readonly DownwardAPIVolumeFile[],
  { pod, nodeAllocatable, defaultMode }: { readonly pod: Pod; readonly nodeAllocatable: ResourceList; readonly defaultMode: number },
): VolumeFiles {
  const files = new Map<string, VolumeFile>();
  const errors: unknown[] = [];
  for (const { path, mode = defaultMode, fieldRef, resourceFieldRef } of items) {
    try {
      let text = "";
      if (fieldRef !== undefined) text = fileField(fieldRef.fieldPath, pod);
      else if (resourceFieldRef !== undefined) text = fileAmount(resourceFieldRef, pod, nodeAllocatable);
      files.set(path, { data: encodeUtf8(text), mode });
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw combineErrors(errors);
  return files;
}
