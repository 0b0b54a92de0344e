/** Who may do what with the files of a volume: what `fsGroup` adds to a mode, and whose the private files of a Pod are. */
import type { Pod } from "../../../api/generated/core/v1.ts";
import { allContainers } from "../../../api/core/v1/pod/containers.ts";

const GROUP_READS_AND_WRITES = 0o660;
const GROUP_READS = 0o440;
const GROUP_ENTERS = 0o110;
/** What is made in the directory is the group's, too. */
const INHERIT_GROUP = 0o2000;

/** The mode of what is given to a group. */
export function modeForGroup(
  mode: number,
  { isDirectory, isReadOnly }: { readonly isDirectory: boolean; readonly isReadOnly: boolean },
): number {
  return mode | (isReadOnly ? GROUP_READS : GROUP_READS_AND_WRITES) | (isDirectory ? GROUP_ENTERS | INHERIT_GROUP : 0);
}

/** The user that all containers of the Pod run as; undefined if one does not say, or two say different ones. */
export function soleUserOf({ spec }: Pod): number | undefined {
  if (spec === undefined) return undefined;
  const ofPod = spec.securityContext?.runAsUser;
  const users = new Set(allContainers(spec, "").map(({ container }) => container.securityContext?.runAsUser ?? ofPod));
  const [user] = users;
  return users.size === 1 ? user : undefined;
}
