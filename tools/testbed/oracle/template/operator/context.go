// Package operator holds what a bootstrap template sees, under the package name that its authors
// know from messages: "can't evaluate field X in type operator.BootstrapRendererInput".
package operator

// Requirement is one node requirement.
type Requirement struct {
	Key      string
	Operator string
	Values   []string
}

// BootstrapRendererInput is the whole data of a bootstrap template.
type BootstrapRendererInput struct {
	ClusterID    string
	Requirements []Requirement
}
