// Package control is a client of k8ts test control and of the cluster that it controls, with the standard library only.
package control

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
)

// Object is any JSON object.
type Object = map[string]any

// Rejected is an answer other than 2xx.
type Rejected struct {
	Code    int
	Message string
}

func (r *Rejected) Error() string { return fmt.Sprintf("%d: %s", r.Code, r.Message) }

// TestControl controls the main cluster.
type TestControl struct {
	URL   string `json:"url"`
	Token string `json:"token"`

	server string
	kube   *http.Client
}

const path = "/v1/clusters/main"

// Connect reads the file that K8TS_TEST_CONTROL names, or that of the default cluster.
func Connect() (*TestControl, error) {
	file := os.Getenv("K8TS_TEST_CONTROL")
	if file == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, err
		}
		file = filepath.Join(home, ".local/share/k8ts/default/run/test-control.json")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	control := &TestControl{}
	if err := json.Unmarshal(text, control); err != nil {
		return nil, err
	}
	cluster, err := control.Call("GET", path, nil)
	if err != nil {
		return nil, err
	}
	return control, control.useCredentials(cluster)
}

func (c *TestControl) useCredentials(cluster Object) error {
	text := func(name string) []byte { return []byte(cluster[name].(string)) }
	certificate, err := tls.X509KeyPair(text("clientCertificate"), text("clientKey"))
	if err != nil {
		return err
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(text("certificateAuthority")) {
		return errors.New("the certificate authority is not PEM")
	}
	config := &tls.Config{RootCAs: authorities, Certificates: []tls.Certificate{certificate}}
	c.kube = &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
	c.server = cluster["server"].(string)
	return nil
}

// Call sends a request to test control.
func (c *TestControl) Call(method, path string, body any) (Object, error) {
	return send(http.DefaultClient, method, c.URL+path, body, "Bearer "+c.Token)
}

// Kube sends a request to the API server, as the administrator.
func (c *TestControl) Kube(method, path string, body any) (Object, error) {
	return send(c.kube, method, c.server+path, body, "")
}

// Reset replaces the state of the cluster by that of a snapshot.
func (c *TestControl) Reset(snapshot string) error {
	_, err := c.Call("POST", path+"/reset", Object{"snapshot": snapshot})
	return err
}

// Snapshot keeps the state of the cluster under a name.
func (c *TestControl) Snapshot(name string) error {
	_, err := c.Call("PUT", "/v1/snapshots/"+name, nil)
	return err
}

// Advance advances virtual time, such as "5m".
func (c *TestControl) Advance(duration string) error {
	_, err := c.Call("POST", path+"/time/advance", Object{"duration": duration})
	return err
}

// CutOff cuts a node off from the network.
func (c *TestControl) CutOff(node string) error {
	_, err := c.Call("POST", path+"/nodes/"+node+"/cut-off", nil)
	return err
}

// AddFault injects a fault into matching requests.
func (c *TestControl) AddFault(fault Object) error {
	_, err := c.Call("POST", path+"/faults", fault)
	return err
}

func send(client *http.Client, method, url string, body any, authorization string) (Object, error) {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, url, content)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer := Object{}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 {
		return nil, &Rejected{Code: response.StatusCode, Message: fmt.Sprint(answer["message"])}
	}
	return answer, nil
}
