/** The supported volume kinds. The order does not matter: a volume names its kind. */
import { configMap } from "./config-map/config-map.ts";
import { csi } from "./csi/csi.ts";
import { downwardAPI } from "./downward-api/downward-api.ts";
import { emptyDir } from "./empty-dir/empty-dir.ts";
import type { VolumePlugin } from "./framework/volume-plugin.ts";
import { hostPath } from "./host-path/host-path.ts";
import { image } from "./image/image.ts";
import { iscsi } from "./iscsi/iscsi.ts";
import { local } from "./local/local.ts";
import { nfs } from "./nfs/nfs.ts";
import { projected } from "./projected/projected.ts";
import { secret } from "./secret/secret.ts";

export const all: readonly VolumePlugin[] = [configMap, csi, downwardAPI, emptyDir, hostPath, image, iscsi, local, nfs, projected, secret];
