/** Lists the volumes in a directory of volumes-on-disk.ts, also while no node uses it. */
import { claimUidOf } from "../../api/local-path.ts";
import { joinPath } from "../../host/files/files.ts";
import { namesIn } from "../../host/files/shared-directory.ts";

export async function storedVolumes(directory: string): Promise<readonly string[]> {
  const names = await Promise.all(["directories", "images"].map((part) => namesIn(joinPath(directory, part))));
  return names.flat().filter((name) => claimUidOf(name) !== undefined);
}
