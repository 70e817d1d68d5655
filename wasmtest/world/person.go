package world

import "maps"

// A Person is somebody who signs in.
type Person struct {
	ID      string // the claim sub, which names the person at a provider
	Name    string // empty: not told, and so below
	Email   string
	Picture string // a URL

	// Claims are further ones, and win over the fields. A claim that is nil is left out.
	Claims map[string]any
}

func (p Person) claims() map[string]any {
	claims := map[string]any{}
	for name, value := range map[string]string{"sub": p.ID, "name": p.Name, "email": p.Email, "picture": p.Picture} {
		if value != "" {
			claims[name] = value
		}
	}
	maps.Copy(claims, p.Claims)
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	return claims
}

// isNobody reports whether there is nothing that tells who a person is.
func (p Person) isNobody() bool { return p.claims()["sub"] == nil }
