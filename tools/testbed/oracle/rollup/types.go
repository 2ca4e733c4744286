package main

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ResourceList is amounts by resource name.
type ResourceList map[string]resource.Quantity

// Requirement is one condition on the labels of a machine.
type Requirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

// TopologySpread asks for an even spread.
type TopologySpread struct {
	MaxSkew           int32  `json:"maxSkew"`
	TopologyKey       string `json:"topologyKey"`
	WhenUnsatisfiable string `json:"whenUnsatisfiable"`
}

// CoLocation asks for one value of a topology key for a group.
type CoLocation struct {
	TopologyKey   string               `json:"topologyKey"`
	LabelSelector metav1.LabelSelector `json:"labelSelector,omitempty"`
}

// CapacityRequestSpec is what is asked for.
type CapacityRequestSpec struct {
	Requirements        []Requirement      `json:"requirements,omitempty"`
	Resources           ResourceList       `json:"resources"`
	Priority            int32              `json:"priority"`
	TopologySpread      []TopologySpread   `json:"topologySpread,omitempty"`
	CoLocation          *CoLocation        `json:"coLocation,omitempty"`
	InterruptionPenalty *resource.Quantity `json:"interruptionPenalty,omitempty"`
	ReclamationPenalty  *resource.Quantity `json:"reclamationPenalty,omitempty"`
}

// CapacityRequestStatus is how far the request is.
type CapacityRequestStatus struct {
	Phase          string       `json:"phase,omitempty"`
	AcknowledgedAt *metav1.Time `json:"acknowledgedAt,omitempty"`
}

// CapacityRequest is the typed object in the cache.
type CapacityRequest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   CapacityRequestSpec   `json:"spec"`
	Status CapacityRequestStatus `json:"status,omitempty"`
}

// DeepCopy copies as the code that controller-gen makes does.
func (in *CapacityRequest) DeepCopy() *CapacityRequest {
	out := &CapacityRequest{TypeMeta: in.TypeMeta, Status: in.Status}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	in.Spec.deepCopyInto(&out.Spec)
	out.Status.AcknowledgedAt = in.Status.AcknowledgedAt.DeepCopy()
	return out
}

func (in *CapacityRequestSpec) deepCopyInto(out *CapacityRequestSpec) {
	*out = *in
	if in.Requirements != nil {
		out.Requirements = make([]Requirement, len(in.Requirements))
		for i, requirement := range in.Requirements {
			out.Requirements[i] = requirement
			if requirement.Values != nil {
				out.Requirements[i].Values = append([]string{}, requirement.Values...)
			}
		}
	}
	if in.Resources != nil {
		out.Resources = make(ResourceList, len(in.Resources))
		for name, quantity := range in.Resources {
			out.Resources[name] = quantity.DeepCopy()
		}
	}
	if in.TopologySpread != nil {
		out.TopologySpread = append([]TopologySpread{}, in.TopologySpread...)
	}
	if in.CoLocation != nil {
		out.CoLocation = &CoLocation{TopologyKey: in.CoLocation.TopologyKey}
		in.CoLocation.LabelSelector.DeepCopyInto(&out.CoLocation.LabelSelector)
	}
	out.InterruptionPenalty = copyQuantity(in.InterruptionPenalty)
	out.ReclamationPenalty = copyQuantity(in.ReclamationPenalty)
}

func copyQuantity(in *resource.Quantity) *resource.Quantity {
	if in == nil {
		return nil
	}
	out := in.DeepCopy()
	return &out
}
