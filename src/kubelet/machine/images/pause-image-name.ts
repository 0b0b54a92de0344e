/**
 * Name of the sandbox image on every node with a containerd of k8ts's own. In a file of its own: the image's contents take time to load.
 */
export const PAUSE_IMAGE = "k8ts.local/pause:1";
