/**
 * emptyDir in huge pages: a hugetlbfs of one page size. The medium names the size ("HugePages-2Mi"), or the Pod's requests do ("HugePages",
 * if they are all of one size). With upstream's messages. Not here: limits of huge pages, which are the containers' cgroups.
 */
import type { Pod } from "../../../api/generated/core/v1.ts";
import { hugePageSize, isHugePages, readQuantity } from "../../../api/core/v1/pod/resource-list.ts";
import { compareQuantities } from "../../../api/machinery/quantity.ts";
import type { Mounter } from "../framework/mounter.ts";
import { ensureDirectory } from "../framework/volume-directory.ts";
import { VolumeError } from "../framework/volume-error.ts";

const ANY_SIZE = "HugePages";
const OF_SIZE = "HugePages-";

export function isHugePagesMedium(medium: string): boolean {
  return medium === ANY_SIZE || medium.startsWith(OF_SIZE);
}

interface HugePagesOptions {
  readonly medium: string;
  readonly pod: Pod;
  readonly mounter: Mounter;
}

/** Idempotent. */
export async function ensureHugePages(path: string, { medium, pod, mounter }: HugePagesOptions): Promise<void> {
  const pageSize = pageSizeOf(medium, pod);
  await ensureDirectory(path, mounter);
  if (await mounter.isMountPoint(path)) return;
  await mounter.mountDevice({ device: "nodev", path, fileSystem: "hugetlbfs", options: [`pagesize=${pageSize}`] });
}

/** "2Mi" */
export function pageSizeOf(medium: string, pod: Pod): string {
  const sizes = requestedSizes(pod);
  if (medium === ANY_SIZE) {
    const [first, ...others] = sizes;
    if (others.some((size) => !areEqual(size, first ?? "0")))
      throw new VolumeError(`medium: ${medium} can't be used if container requests multiple huge page sizes`);
    if (first !== undefined) return first;
  }
  const wanted = medium.slice(OF_SIZE.length);
  const found = medium === ANY_SIZE ? undefined : sizes.find((size) => areEqual(size, wanted));
  if (found === undefined)
    throw new VolumeError(`medium ${medium}: hugePages storage requested, but there is no resource request for huge pages`);
  return found;
}

/** Init containers may use huge pages, too. */
function requestedSizes({ spec }: Pod): readonly string[] {
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  return [spec?.resources, ...containers.map(({ resources }) => resources)].flatMap((resources) =>
    Object.keys(resources?.requests ?? {})
      .filter(isHugePages)
      .map(hugePageSize),
  );
}

function areEqual(a: string, b: string): boolean {
  return compareQuantities(readQuantity(a), readQuantity(b)) === 0;
}
