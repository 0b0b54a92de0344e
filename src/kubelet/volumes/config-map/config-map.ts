/** configMap: the keys of a ConfigMap as files. On disk, since a ConfigMap holds nothing secret. */
import { FILE_MODE_DEFAULT, filesPlugin } from "../framework/files-plugin.ts";
import { configMapFiles } from "../framework/keyed-files.ts";

export const configMap = filesPlugin({
  source: "configMap",
  directory: "kubernetes.io~configmap",
  medium: "disk",
  isEphemeral: true,
  resolve({ pod, volume }, { references }, signal) {
    const { defaultMode = FILE_MODE_DEFAULT, ...source } = volume.configMap ?? {};
    return configMapFiles(source, { namespace: pod.metadata.namespace ?? "", defaultMode, references, signal });
  },
});
