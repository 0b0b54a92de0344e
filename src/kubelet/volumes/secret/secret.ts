/** secret: the keys of a Secret as files. */
import { FILE_MODE_DEFAULT, filesPlugin } from "../framework/files-plugin.ts";
import { secretFiles } from "../framework/keyed-files.ts";

export const secret = filesPlugin({
  source: "secret",
  directory: "kubernetes.io~secret",
  medium: "memory",
  isEphemeral: false,
  resolve({ pod, volume }, { references }, signal) {
    const { secretName = "", defaultMode = FILE_MODE_DEFAULT, ...source } = volume.secret ?? {};
    return secretFiles({ ...source, name: secretName }, { namespace: pod.metadata.namespace ?? "", defaultMode, references, signal });
  },
});
