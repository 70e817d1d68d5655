package providers

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/edgeauth/edgeauth/core"
)

// fields says where in a profile the parts of a user are. Each is a path, as JavaScript would
// write it:
//
//	data.name      name of data; an error if there is no data
//	data?.name     name of data, if there is data
//	images?.0?.url the first of a list
//	name|login     name, or login if name is missing or null
//	first+last     both, with a blank between them; a missing one is left out
//	null           null, as the last alternative
//
// An empty path is a part that users of the provider don't have.
type fields struct{ id, name, email, image string }

// user makes the user. It is a [core.OAuth.Profile].
func (f fields) user(_ context.Context, profile core.Profile, _ *core.Account) (*core.User, error) {
	return f.read(profile)
}

func (f fields) read(profile core.Profile) (*core.User, error) {
	user := &core.User{}
	id, _, err := lookUp(profile, f.id)
	if err != nil {
		return nil, err
	}
	if user.ID = plain(id); user.ID == "" {
		return nil, errors.New("providers: the profile has no " + f.id)
	}
	for _, part := range [...]struct{ name, path string }{{"name", f.name}, {"email", f.email}, {"image", f.image}} {
		if part.path == "" {
			continue
		}
		value, present, err := lookUp(profile, part.path)
		if err == nil && present {
			err = set(user, part.name, value)
		}
		if err != nil {
			return nil, err
		}
	}
	return user, nil
}

// set gives a user a member as it is in the profile. An address is text, or there is none.
func set(user *core.User, name string, value any) error {
	text, isText := value.(string)
	switch {
	case name == "email" && value == nil:
	case name == "email" && !isText:
		return errors.New("providers: the profile's e-mail address is no text")
	case text == "":
		setExtra(user, name, value)
	case name == "name":
		user.Name = text
	case name == "email":
		user.Email = text
	default:
		user.Image = text
	}
	return nil
}

// setExtra gives a user a member that is not plain text.
func setExtra(user *core.User, name string, value any) {
	if user.Extra == nil {
		user.Extra = map[string]any{}
	}
	user.Extra[name] = value
}

// setImage gives a user a picture; without one, it is null on the wire.
func setImage(user *core.User, image string) {
	if user.Image = image; image == "" {
		setExtra(user, "image", nil)
	}
}

// plain is a value as text, "" if it is neither text nor a number.
func plain(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// isTruthy reports whether JavaScript takes a value for true.
func isTruthy(value any) bool {
	switch value {
	case nil, false, "", json.Number("0"):
		return false
	}
	return true
}

// lookUp gives what is at a path, and whether anything is. The error is the one that JavaScript
// would have: a member was asked of nothing.
func lookUp(profile core.Profile, path string) (value any, present bool, err error) {
	for alternative := range strings.SplitSeq(path, "|") {
		switch {
		case alternative == "null":
			return nil, true, nil
		case strings.Contains(alternative, "+"):
			value, err = join(profile, alternative)
			present = true
		default:
			value, present, err = member(profile, alternative)
		}
		if err != nil {
			return nil, false, err
		}
		if value != nil {
			break
		}
	}
	return value, present, nil
}

func join(profile core.Profile, paths string) (any, error) {
	var words []string
	for path := range strings.SplitSeq(paths, "+") {
		value, _, err := member(profile, path)
		if err != nil {
			return nil, err
		}
		if word := plain(value); word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " "), nil
}

func member(profile core.Profile, path string) (any, bool, error) {
	var value any = map[string]any(profile)
	present, optional := true, false
	for name := range strings.SplitSeq(path, ".") {
		if value == nil {
			if optional {
				return nil, false, nil
			}
			return nil, false, errors.New("providers: the profile has no " + path)
		}
		name, optional = strings.CutSuffix(name, "?")
		switch of := value.(type) {
		case map[string]any:
			value, present = of[name]
		case []any:
			i, err := strconv.Atoi(name)
			if present = err == nil && i >= 0 && i < len(of); present {
				value = of[i]
			} else {
				value = nil
			}
		default:
			value, present = nil, false
		}
	}
	return value, present, nil
}
