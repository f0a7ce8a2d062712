# For interactive shells of this user.
case $- in
*i*) ;;
*) return ;;
esac
HISTCONTROL=ignoreboth
HISTSIZE=1000
shopt -s histappend
alias ls='ls --color=auto'
alias grep='grep --color=auto'
alias ll='ls -alF'
