package providers

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/edgeauth/edgeauth/core"
)

// What follows are the profiles that fields can't read. Each function is a [core.OAuth.Profile].

// standard are the members of a profile without a mapping of its own.
var standard = fields{id: "sub|id", name: "name|nickname|preferred_username", email: "email", image: "picture"}

// appleUser takes the name from what Apple posts beside its code at the first sign-in; later there
// is only the address.
func appleUser(_ context.Context, profile core.Profile, _ *core.Account) (*core.User, error) {
	user, err := fields{id: "sub", name: "user?.name?.firstName+user?.name?.lastName", email: "email", image: "null"}.read(profile)
	if err == nil && user.Name == "" {
		user.Name = user.Email
		delete(user.Extra, "name")
	}
	return user, err
}

// azureDevOpsUser has a picture inside of the profile.
func azureDevOpsUser(_ context.Context, profile core.Profile, _ *core.Account) (*core.User, error) {
	user, err := fields{id: "id", name: "displayName", email: "emailAddress"}.read(profile)
	if err != nil {
		return nil, err
	}
	picture, _, err := lookUp(profile, "coreAttributes.Avatar.value.value")
	if err != nil {
		return nil, err
	}
	if encoded := plain(picture); encoded != "" {
		user.Image = "data:image/jpeg;base64," + encoded
	}
	return user, nil
}

// beyondIdentityUser has the username, too.
func beyondIdentityUser(_ context.Context, profile core.Profile, _ *core.Account) (*core.User, error) {
	user, err := fields{id: "sub", name: "name", email: "email", image: "null"}.read(profile)
	if name, present := profile["preferred_username"]; err == nil && present {
		setExtra(user, "preferred_username", name)
	}
	return user, err
}

// bungieUser has a picture whose address is a path.
func bungieUser(_ context.Context, profile core.Profile, _ *core.Account) (*core.User, error) {
	const of = "Response.bungieNetUser."
	user, err := fields{id: of + "membershipId", name: of + "displayName"}.read(profile)
	if err != nil {
		return nil, err
	}
	picture, _, err := lookUp(profile, of+"profilePicturePath")
	path, ok := picture.(string)
	if err != nil || !ok {
		return nil, errors.New("providers: the profile has no " + of + "profilePicturePath")
	}
	user.Image = "https://www.bungie.net/" + strings.TrimPrefix(path, "/")
	return user, nil
}

// clickUpUser calls the picture otherwise, and has a colour.
func clickUpUser(_ context.Context, profile core.Profile, _ *core.Account) (*core.User, error) {
	user, err := fields{id: "user.id", name: "user.username"}.read(profile)
	if err != nil {
		return nil, err
	}
	for _, name := range [...]string{"profilePicture", "color"} {
		if value, present, _ := lookUp(profile, "user."+name); present {
			setExtra(user, name, value)
		}
	}
	return user, nil
}

// discordUser makes the address of the picture as
// https://discord.com/developers/docs/reference#image-formatting has it. Who has chosen none gets one
// by the number of the account or, with a name of the former kind, of the name.
func discordUser(_ context.Context, profile core.Profile, _ *core.Account) (*core.User, error) {
	user, err := fields{id: "id", name: "global_name|username", email: "email"}.read(profile)
	if err != nil {
		return nil, err
	}
	const root = "https://cdn.discordapp.com/"
	avatar, present := profile["avatar"]
	hash, isText := avatar.(string)
	switch {
	case isText && strings.HasPrefix(hash, "a_"):
		user.Image = root + "avatars/" + user.ID + "/" + hash + ".gif"
	case isText:
		user.Image = root + "avatars/" + user.ID + "/" + hash + ".png"
	case !present || avatar != nil:
		return nil, errors.New("providers: the profile has no avatar")
	default:
		number, ok := discordAvatar(user.ID, profile["discriminator"])
		if !ok {
			return nil, errors.New("providers: the profile's id is no number")
		}
		user.Image = root + "embed/avatars/" + number + ".png"
	}
	return user, nil
}

func discordAvatar(id string, discriminator any) (string, bool) {
	if tag, err := strconv.ParseUint(plain(discriminator), 10, 32); err == nil && discriminator != "0" {
		return strconv.FormatUint(tag%5, 10), true
	}
	number, err := strconv.ParseUint(id, 10, 64)
	return strconv.FormatUint(number>>22%6, 10), err == nil
}

// eventbriteUser has several addresses, one of which is the primary one.
func eventbriteUser(_ context.Context, profile core.Profile, _ *core.Account) (*core.User, error) {
	user, err := fields{id: "id", name: "name"}.read(profile)
	if err != nil {
		return nil, err
	}
	list, ok := profile["emails"].([]any)
	if !ok {
		return nil, errors.New("providers: the profile has no emails")
	}
	if err := set(user, "email", primary(list)["email"]); err != nil {
		return nil, err
	}
	image := ""
	if id := plain(profile["image_id"]); id != "" {
		image = "https://img.evbuc.com/https%3A%2F%2Fcdn.evbuc.com%2Fimages%2F" + id + "%2F1%2Foriginal.jpg"
	}
	setImage(user, image)
	return user, nil
}

// primary gives the member of a list that is marked as primary, or nil.
func primary(list []any) map[string]any {
	for _, one := range list {
		if member, _ := one.(map[string]any); isTruthy(member["primary"]) {
			return member
		}
	}
	return nil
}

// eveOnlineUser makes the address of the picture from the character's number.
func eveOnlineUser(_ context.Context, profile core.Profile, _ *core.Account) (*core.User, error) {
	user, err := fields{id: "CharacterID", name: "CharacterName"}.read(profile)
	if err == nil {
		user.Image = "https://image.eveonline.com/Character/" + user.ID + "_128.jpg"
	}
	return user, err
}

// foursquareUser puts the address of the picture together.
func foursquareUser(_ context.Context, profile core.Profile, _ *core.Account) (*core.User, error) {
	profile, err := inner(profile, "response.user")
	if err != nil {
		return nil, err
	}
	user, err := fields{id: "id", name: "firstName+lastName", email: "contact.email"}.read(profile)
	if err != nil {
		return nil, err
	}
	image := ""
	photo, _ := profile["photo"].(map[string]any)
	if prefix, suffix := plain(photo["prefix"]), plain(photo["suffix"]); prefix != "" && suffix != "" {
		image = prefix + "original" + suffix
	}
	setImage(user, image)
	return user, nil
}

// nextcloudUser makes the address of the picture on that server.
func nextcloudUser(issuer string) func(context.Context, core.Profile, *core.Account) (*core.User, error) {
	return func(_ context.Context, profile core.Profile, _ *core.Account) (*core.User, error) {
		user, err := fields{id: "id", name: "displayname", email: "email"}.read(profile)
		if err == nil {
			user.Image = issuer + "/avatar/" + user.ID + "/512"
		}
		return user, err
	}
}

// threadsUser takes empty text for nothing. Threads answers without the data that Auth.js looks into.
func threadsUser(_ context.Context, profile core.Profile, _ *core.Account) (*core.User, error) {
	if data, err := inner(profile, "data"); err == nil {
		profile = data
	}
	filled := core.Profile{}
	for _, name := range [...]string{"id", "username", "threads_profile_picture_url"} {
		if isTruthy(profile[name]) {
			filled[name] = profile[name]
		}
	}
	return fields{id: "id", name: "username|null", image: "threads_profile_picture_url|null"}.read(filled)
}

// yandexUser makes the address of the picture as https://yandex.com/dev/id/doc/en/user-information has it.
func yandexUser(_ context.Context, profile core.Profile, _ *core.Account) (*core.User, error) {
	user, err := fields{id: "id", name: "display_name|real_name|first_name", email: "default_email|emails?.0"}.read(profile)
	if err != nil {
		return nil, err
	}
	image := ""
	if id := plain(profile["default_avatar_id"]); id != "" && !isTruthy(profile["is_avatar_empty"]) {
		image = "https://avatars.yandex.net/get-yapic/" + id + "/islands-200"
	}
	setImage(user, image)
	return user, nil
}
